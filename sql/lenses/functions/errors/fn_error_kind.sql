-- Who has caused an error. server: the server's state (connection, rollback, resources,
-- intervention, system); it passes by itself. usage: a wrong role, address or version. run: all
-- else, the work itself. 53400 means that a tenant has reached a quota, so it is the work's. 54000
-- is the server's only where a queue of notifications is full; a commit raises that one, so no
-- function can catch it. lf_sql.trouble says the same to the processes beside the database.
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
