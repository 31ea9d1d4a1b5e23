-- owner: lf_sql_engine
-- The log rows of a pass: a dispatch or a skip each one, late slots dropped together one. Waiting
-- is none.
create or replace function lenses.fn_log_decisions(
  p_decisions lenses.slot_decision[],
  p_plans lenses.slot_plan[],
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
  select
    s.lenser_id,
    s.id,
    case d.decision when 'dispatch' then 'dispatch_schedule' else 'schedule_skipped' end,
    case
      when d.decision = 'dispatch' and d.rotation_index is null then
        jsonb_build_object('run_id', d.run_id, 'scheduled_for', d.slot)
      when d.decision = 'dispatch' then
        jsonb_build_object(
          'run_id', d.run_id, 'scheduled_for', d.slot, 'rotation_index_used', d.rotation_index)
      else
        jsonb_build_object('reason', d.reason, 'scheduled_for', d.slot, 'detail', d.detail)
    end || case
      when s.on_holiday = 'skip' then '{}'
      else jsonb_strip_nulls(jsonb_build_object(
        'moved_from', lenses.fn_moved_text(s, d.slot)))
    end,
    p_now
  from unnest(p_decisions) as d
  inner join lenses.workflow_schedules as s on s.id = d.schedule_id
  where d.decision in ('dispatch', 'skip');

  perform lenses.fn_log_missed(
    s.lenser_id, s.id, p.dropped_count, p.dropped_first, p.dropped_last, p_now)
  from unnest(p_plans) as p
  inner join lenses.workflow_schedules as s on s.id = p.schedule_id
  where p.dropped_count > 0;
  if found then
    perform lenses.fn_emit_missed(p_plans, p_now);
  end if;
end;
$$;
