-- At the end of the script of `lf-sql cells foreign-tables`: drops what an earlier script made for
-- cells that are no longer in the directory. What somebody built upon it stops the script.
do $end$
declare
  v_mark constant text := 'made by lf-sql cells foreign-tables';
  v_gone record;
begin
  for v_gone in
    select n.nspname, t.relname
    from pg_catalog.pg_namespace as n
    inner join pg_catalog.pg_class as t on t.relnamespace = n.oid and t.relkind = 'f'
    where n.nspname like 'lf\_cell\_%'
      and n.nspowner = current_user::pg_catalog.regrole
      and pg_catalog.obj_description(n.oid, 'pg_namespace') = v_mark
      and n.nspname not in (select c.place from pg_temp.lf_wanted as c)
      and t.relname in ('cell_health', 'cell_runs', 'cell_schedules', 'cell_tenants')
  loop
    execute pg_catalog.format('drop foreign table %I.%I', v_gone.nspname, v_gone.relname);
  end loop;
  for v_gone in
    select n.nspname
    from pg_catalog.pg_namespace as n
    where n.nspname like 'lf\_cell\_%'
      and n.nspowner = current_user::pg_catalog.regrole
      and pg_catalog.obj_description(n.oid, 'pg_namespace') = v_mark
      and n.nspname not in (select c.place from pg_temp.lf_wanted as c)
  loop
    execute pg_catalog.format('drop schema %I', v_gone.nspname);
  end loop;
  for v_gone in
    select
      s.srvname,
      m.umid,
      case when m.umuser <> 0 then pg_catalog.format('%I', m.usename) else 'public' end as who
    from pg_catalog.pg_foreign_server as s
    left join pg_catalog.pg_user_mappings as m on m.srvid = s.oid
    where s.srvname like 'lf\_cell\_%'
      and s.srvowner = current_user::pg_catalog.regrole
      and pg_catalog.obj_description(s.oid, 'pg_foreign_server') = v_mark
      and s.srvname not in (select c.place from pg_temp.lf_wanted as c)
    order by s.srvname
  loop
    if v_gone.umid is not null then
      execute pg_catalog.format(
        'drop user mapping for %s server %I', v_gone.who, v_gone.srvname
      );
    end if;
    if not exists (
      select 1 from pg_catalog.pg_user_mappings as m where m.srvname = v_gone.srvname
    ) then
      execute pg_catalog.format('drop server %I', v_gone.srvname);
    end if;
  end loop;
end;
$end$;
