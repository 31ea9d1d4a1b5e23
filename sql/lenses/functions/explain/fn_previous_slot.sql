-- The last slot of a schedule strictly before p_before within its window; NULL where there is none
-- in the 42 years before. Slots are counted in stretches that double, then the last one is looked
-- up.
create or replace function lenses.fn_previous_slot(
  p_schedule lenses.workflow_schedules,
  p_before timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until timestamptz := p_before - interval '1 microsecond';
  v_reach interval := interval '2 hours';
  v_count bigint;
begin
  loop
    v_count := lenses.fn_count_slots(p_schedule, v_until - v_reach, v_until);
    if v_count > 0 then
      return lenses.fn_nth_slot(p_schedule, v_until - v_reach, v_count);
    end if;
    exit when v_reach > interval '368000 hours'
      or v_until - v_reach < timestamptz '1970-01-01 00:00:00+00'
      or v_until - v_reach < p_schedule.start_at;
    v_reach := v_reach * 4;
  end loop;
  return null;
end;
$$;
