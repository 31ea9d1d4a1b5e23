-- Whose an error is. server: its moment (connection, state, rollback, resources, intervention, system),
-- nobody's poison, that passes by itself. usage: of the wrong role, address or version. run: all else,
-- the work's own. 53400 is what a tenant's quotas are refused with, so his. 54000 is the server's only
-- where a queue of notifications is full, which is raised by a commit: no function ever catches that
-- one. lf_sql.trouble says the same to the processes beside the database.
create or replace function lenses.fn_error_kind(p_sqlstate text)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_sqlstate = '53400' then 'run'
  when substr(p_sqlstate, 1, 2) in ('08', '25', '40', '53', '55', '57', '58') then 'server'
  when p_sqlstate ~ '^(28|3D|3F|42)' then 'usage'
  else 'run'
end
$$;
