-- owner: lf_sql_engine
-- Where a schedule stands once the ticks of a clock that was ahead are undone. A slot of the past
-- that waits goes on waiting and is looked at now; what was decided about slots to come is
-- forgotten. Else the next slot is the first that those ticks used up and that has no run, as far
-- back as p_from. p_tick: the first tick by the right clock; what came due since then was seen.
create or replace function lenses.fn_undo_place(
  p_schedule lenses.workflow_schedules,
  p_now timestamptz,
  p_from timestamptz,
  p_tick_id bigint
)
returns lenses.workflow_schedules
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_past tstzmultirange := tstzmultirange(tstzrange(null, p_now, '[]'));
  v_first timestamptz;
begin
  p_schedule.tick_id := p_tick_id;
  p_schedule.tick_slots := 0;
  if p_schedule.next_run_at <= p_now then
    p_schedule.missed := nullif(p_schedule.missed * v_past, '{}');
    p_schedule.dropped := nullif(p_schedule.dropped * v_past, '{}');
    if p_schedule.seen_until > p_now then
      p_schedule.seen_until := p_now;
    end if;
    if p_schedule.spread_next_at > p_now then
      p_schedule.spread_next_at := p_now;
    end if;
    if p_schedule.due_at > p_now then
      p_schedule.due_at := p_now;
    end if;
    return p_schedule;
  end if;

  select min(coalesce(
    (a.payload #>> '{detail,first}')::timestamptz, (a.payload ->> 'scheduled_for')::timestamptz))
  into v_first
  from agents.action_logs as a
  where a.schedule_id = p_schedule.id and a.occurred_at > p_now
    and (a.action_type in ('dispatch_schedule', 'schedule_failed')
      or a.action_type = 'schedule_skipped' and a.payload ->> 'reason' <> 'schedule_edited');
  v_first := least(v_first, p_schedule.next_run_at);
  if v_first is null or not lenses.fn_has_zone(p_schedule.timezone) then
    return p_schedule;
  end if;
  p_schedule := lenses.fn_place_schedule(
    p_schedule, greatest(v_first - interval '1 microsecond', p_from), p_now);
  if p_schedule.last_dispatch_status = 'skipped_missed' then
    p_schedule.last_dispatch_status := case
      when p_schedule.last_run_at is not null then 'dispatched' end;
  end if;
  if p_schedule.next_run_at <= p_now then
    p_schedule.seen_until := p_schedule.next_run_at;
  end if;
  return p_schedule;
end;
$$;
