-- Part of the extension alone: a dump restores rows into tables that are there already, triggers
-- and all. Called once, by a superuser, when all rows of a restored dump are in.
create or replace function lf_sql.fn_finish_restore()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_trigger record;
begin
  for v_trigger in
    select t.tgrelid::regclass as on_table, t.tgname, e.facts ->> 'enabled' as wanted
    from pg_trigger as t
    inner join pg_class as c on c.oid = t.tgrelid
    left join lf_sql.expected_objects as e
      on e.kind = 'trigger'
      and e.identity = format('%s.%s.%s', c.relnamespace::regnamespace, c.relname, t.tgname)
    where not t.tgisinternal and t.tgenabled = 'D'
      and c.relnamespace::regnamespace::text in ('lf_sql', 'lensers', 'lenses', 'agents')
  loop
    execute format(
      'alter table %s enable %s trigger %I', v_trigger.on_table,
      case when v_trigger.wanted = 'A' then 'always' end, v_trigger.tgname);
  end loop;
end;
$$;

comment on function lf_sql.fn_finish_restore() is
  'After a restore of a dump: wakes the triggers of the tables, which were silent while their '
  'rows came back. For the extension''s owner.';
