-- At the head of the script of `lf-sql cells foreign-tables`, which fills pg_temp.lf_wanted and the
-- @directory@'s id before: refuses what is not ours, then makes a server and a schema a cell. Both
-- bear a comment, by which a later script knows them. Servers that are there keep user mappings.
do $begin$
declare
  v_mark constant text := 'made by lf-sql cells foreign-tables';
  v_is_here boolean := false;
  v_cell record;
  v_what text;
  v_owner text;
  v_options text;
begin
  if pg_catalog.to_regclass('lf_fleet.directories') is not null then
    perform 1 from lf_fleet.directories as d where d.id = '@directory@';
    v_is_here := found;
  end if;
  if not v_is_here then
    raise exception using
      message = 'this database does not hold the directory that the script was made for',
      hint = 'Apply it to the database of --directory, or of LF_SQL_DIRECTORY.';
  end if;
  if not exists (select 1 from pg_catalog.pg_extension as e where e.extname = 'postgres_fdw') then
    if not exists (
      select 1 from pg_catalog.pg_available_extensions as e where e.name = 'postgres_fdw'
    ) then
      raise exception using
        message = 'this server has no extension postgres_fdw',
        hint = 'Install PostgreSQL''s contrib modules on it (often a package postgresql-contrib), '
          'then apply the script again.';
    end if;
    create extension postgres_fdw with schema public;
  end if;

  -- Somebody else's server would get our users' passwords, and his table would be read as ours.
  select w.what, w.owner into v_what, v_owner
  from (
    select
      'schema ' || n.nspname as what,
      n.nspowner as owner,
      pg_catalog.obj_description(n.oid, 'pg_namespace') as mark
    from pg_catalog.pg_namespace as n
    where n.nspname in (select c.place from pg_temp.lf_wanted as c)
    union all
    select
      'server ' || s.srvname,
      s.srvowner,
      pg_catalog.obj_description(s.oid, 'pg_foreign_server')
    from pg_catalog.pg_foreign_server as s
    where s.srvname in (select c.place from pg_temp.lf_wanted as c)
    union all
    select
      pg_catalog.format('relation %s.%s', n.nspname, r.relname),
      r.relowner,
      case when r.relkind = case when n.nspname = 'lf_fleet' then 'v' else 'f' end then v_mark end
    from pg_catalog.pg_class as r
    inner join pg_catalog.pg_namespace as n on r.relnamespace = n.oid
    where n.nspname in (select c.place from pg_temp.lf_wanted as c)
        and r.relname in ('cell_health', 'cell_runs', 'cell_schedules', 'cell_tenants')
      or n.nspname = 'lf_fleet'
        and r.relname in ('all_health', 'all_runs', 'all_schedules', 'all_tenants')
  ) as t
  cross join lateral (
    select
      t.what,
      pg_catalog.pg_get_userbyid(t.owner) as owner,
      t.mark
  ) as w
  where w.owner <> current_user or w.mark is distinct from v_mark
  order by w.what limit 1;
  if found and v_owner <> current_user then
    raise exception using
      message = pg_catalog.format('%s belongs to %s, not to %s', v_what, v_owner, current_user),
      hint = pg_catalog.format(
        'If it is of an earlier script, apply this one as %s; else rename or drop it.', v_owner
      );
  end if;
  if found then
    raise exception using
      message = v_what || ' is there already and is not of lf-sql cells foreign-tables',
      hint = 'Rename or drop it, then apply the script again.';
  end if;

  for v_cell in select c.cell, c.place, c.options from pg_temp.lf_wanted as c order by c.number loop
    if not exists (
      select 1 from pg_catalog.pg_foreign_server as s where s.srvname = v_cell.place
    ) then
      execute pg_catalog.format(
        'create server %I foreign data wrapper postgres_fdw', v_cell.place
      );
    end if;
    select pg_catalog.string_agg(
      case
        when n.value is null then pg_catalog.format('drop %I', o.option_name)
        when o.option_name is null then pg_catalog.format('add %I %L', n.key, n.value)
        else pg_catalog.format('set %I %L', n.key, n.value)
      end, ', ')
    into v_options
    from (
      select f.option_name from pg_catalog.pg_foreign_server as s
      cross join lateral pg_catalog.pg_options_to_table(s.srvoptions) as f
      where s.srvname = v_cell.place
    ) as o
    full outer join pg_catalog.jsonb_each_text(v_cell.options) as n (key, value)
      on o.option_name = n.key;
    execute pg_catalog.format('alter server %I options (%s)', v_cell.place, v_options);
    execute pg_catalog.format('comment on server %I is %L', v_cell.place, v_mark);
    if not exists (
      select 1 from pg_catalog.pg_namespace as n where n.nspname = v_cell.place
    ) then
      execute pg_catalog.format('create schema %I', v_cell.place);
    end if;
    execute pg_catalog.format('comment on schema %I is %L', v_cell.place, v_mark);
  end loop;
end;
$begin$;
