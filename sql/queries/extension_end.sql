-- At the end of the extension's script: what a dump must carry, and how a restore finds the tables.
-- lf_sql.is_restore: pg_dump's own settings were in force at the script's head, so this is a
-- restore: the tables must be empty, and their triggers silent, until the rows of the dump are in.
-- @jobs@ is filled in.
do $dump$
declare
  v_relation regclass;
  v_trigger record;
  v_is_restore constant boolean := current_setting('lf_sql.is_restore')::boolean;
begin
  for v_relation in
    select c.oid from pg_class as c
    where c.relkind in ('r', 'S') and c.relnamespace in (
      'lensers'::regnamespace, 'lenses'::regnamespace, 'agents'::regnamespace)
    order by c.oid
  loop
    perform pg_extension_config_dump(v_relation, '');
  end loop;
  if not v_is_restore then
    if exists (select from pg_extension as e where e.extname = 'pg_cron') then
      @jobs@
    end if;
    return;
  end if;
  for v_trigger in
    select t.tgrelid::regclass as on_table, t.tgname
    from pg_trigger as t
    inner join pg_class as c on c.oid = t.tgrelid
    where not t.tgisinternal and c.relkind = 'r'
      and c.relnamespace::regnamespace::text in ('lensers', 'lenses', 'agents')
  loop
    execute format('alter table %s disable trigger %I', v_trigger.on_table, v_trigger.tgname);
  end loop;
  for v_relation in
    select c.oid from pg_class as c
    where c.relkind = 'r'
      and c.relnamespace::regnamespace::text in ('lensers', 'lenses', 'agents')
  loop
    execute format('delete from %s', v_relation);
  end loop;
  raise warning 'lf_sql: the triggers are silent until the rows of the dump are in'
    using hint = 'Afterwards: select lf_sql.fn_finish_restore();';
end;
$dump$;
