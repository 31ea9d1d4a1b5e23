-- owner: lf_sql_engine
-- The first slot of a schedule after p_after that was not used up by p_now: it has no run, and no
-- tick has skipped it (which comes before a slot only by negative jitter). NULL where none is left.
create or replace function lenses.fn_free_slot(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_now timestamptz
)
returns timestamptz
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot timestamptz := p_after;
  v_early interval := p_schedule.jitter_ms * interval '1 millisecond';
begin
  loop
    v_slot := lenses.fn_next_slot(
      p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
      p_schedule.start_at, p_schedule.end_at, v_slot);
    exit when v_slot is null;
    continue when exists (
      select from lenses.workflow_runs as r
      where r.schedule_id = p_schedule.id and r.scheduled_for = v_slot);
    continue when exists (
      select from lenses.workflow_runs as r
      where r.id = substr(lenses.fn_slot_key(p_schedule.id, v_slot), 1, 32)::uuid);
    continue when v_slot > p_now and v_slot - v_early <= p_now and exists (
      select from agents.action_logs as a
      where a.schedule_id = p_schedule.id
        and a.occurred_at between v_slot - v_early and p_now
        and a.action_type in ('schedule_skipped', 'schedule_failed')
        and v_slot between coalesce(
          (a.payload #>> '{detail,first}')::timestamptz,
          (a.payload ->> 'scheduled_for')::timestamptz)
        and (a.payload ->> 'scheduled_for')::timestamptz);
    exit;
  end loop;
  return v_slot;
end;
$$;
