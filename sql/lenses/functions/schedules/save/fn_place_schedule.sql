-- A schedule with a new next slot: the first unused one after p_after. It clears the backlog. It
-- also clears the error of a lost zone, because without the zone it would fail.
create or replace function lenses.fn_place_schedule(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_now timestamptz
)
returns lenses.workflow_schedules
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_schedule := lenses.fn_forget_backlog(p_schedule);
  p_schedule.next_run_at := lenses.fn_free_slot(p_schedule, p_after, p_now);
  p_schedule.due_at := case when p_schedule.is_active and p_schedule.next_run_at is not null
    then lenses.fn_slot_due(p_schedule.id, p_schedule.next_run_at, p_schedule.jitter_ms) end;
  if p_schedule.next_run_at > p_now then
    -- No tick can have seen it before, however early its jitter makes it due.
    p_schedule.due_at := greatest(p_schedule.due_at, p_now);
  end if;
  if p_schedule.last_error_message like 'the zone is not known to this server%' then
    p_schedule.last_dispatch_status := case
      when p_schedule.last_run_at = p_schedule.last_error_at then 'dispatched' end;
    p_schedule.last_error_at := null;
    p_schedule.last_error_message := null;
  end if;
  return p_schedule;
end;
$$;
