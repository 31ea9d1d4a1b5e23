-- owner: lf_sql_engine
-- Schedules that have no next slot because the server had lost their zone, and whose zone is back:
-- their next slot becomes the first after p_now. Handles p_limit at most; rows that are locked are
-- left for the next call. Where none waits it costs one look into a small index. It goes row by
-- row: one that fails costs only itself and no longer waits; health lists it.
create or replace function lenses.fn_revive_schedules(
  p_now timestamptz, p_limit integer default 1000)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zones text[] := array(
    select z.name
    from (
      select distinct d.awaits_zone as name
      from lenses.schedule_due as d where d.awaits_zone is not null
      offset 0  -- once for each zone, not for each row
    ) as z
    where lenses.fn_has_zone(z.name));
  v_schedule lenses.workflow_schedules;
  v_revived integer := 0;
begin
  if v_zones = '{}' then
    return 0;
  end if;
  for v_schedule in
    select s.*
    from lenses.schedule_due as d
    inner join lenses.workflow_schedules as s
      on s.id = d.schedule_id and s.lenser_id = d.lenser_id
    where d.awaits_zone = any (v_zones)
    limit p_limit
    for no key update of d, s skip locked
  loop
    begin
      if v_schedule.next_run_at is null then
        perform lenses.fn_write_place(lenses.fn_place_schedule(v_schedule, p_now, p_now));
        v_revived := v_revived + 1;
      end if;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: the next slot of schedule % cannot be computed: % %',
        v_schedule.id, sqlstate, sqlerrm;
    end;
    update lenses.schedule_due as d set awaits_zone = null
    where d.schedule_id = v_schedule.id and d.lenser_id = v_schedule.lenser_id
      and d.awaits_zone is not null;
  end loop;
  return v_revived;
end;
$$;

comment on function lenses.fn_revive_schedules(timestamptz, integer) is
  'Computes the next slot of schedules whose lost zone is back; returns how many. The tick calls '
  'it.';
