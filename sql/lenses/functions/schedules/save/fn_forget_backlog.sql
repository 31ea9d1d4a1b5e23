-- Clears what a schedule remembers of waiting and late slots: its next slot is set anew.
create or replace function lenses.fn_forget_backlog(p_schedule lenses.workflow_schedules)
returns lenses.workflow_schedules
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_schedule.failure_count := 0;
  p_schedule.is_deferred := false;
  p_schedule.seen_until := null;
  p_schedule.missed_before := null;
  p_schedule.missed_override := null;
  p_schedule.missed := null;
  p_schedule.dropped := null;
  p_schedule.spread_next_at := null;
  p_schedule.spread_step := null;
  return p_schedule;
end;
$$;
