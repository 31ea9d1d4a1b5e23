-- owner: lf_sql_engine
-- Flood guard of the RPCs: a lenser has at most dispatch_settings.max_schedules_per_lenser
-- schedules. Counts no further than the cap. Two at once may pass it by one; operators' own INSERTs
-- are not held.
create or replace function lenses.fn_check_schedule_cap(p_lenser_id uuid)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cap integer := (select d.max_schedules_per_lenser from lenses.dispatch_settings as d);
begin
  if (
    select count(*) from (
      select from lenses.workflow_schedules as s where s.lenser_id = p_lenser_id limit v_cap
    ) as t
  ) >= v_cap then
    raise exception using errcode = '53400',
      message = format('a lenser has at most %s schedules', v_cap),
      hint = 'Delete some, or ask the operator to raise max_schedules_per_lenser.';
  end if;
end;
$$;

comment on function lenses.fn_check_schedule_cap(uuid) is
  'Raises 53400 if the lenser may not have one more schedule.';
