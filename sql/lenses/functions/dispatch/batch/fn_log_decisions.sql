-- owner: lf_sql_engine
-- Writes the log rows of a pass: one for each dispatch or skip, and one for late slots that were
-- dropped together. Slots that wait have none.
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
    q.lenser_id,
    q.schedule_id,
    case q.decision when 'dispatch' then 'dispatch_schedule' else 'schedule_skipped' end,
    case when q.is_movable
      then q.payload || jsonb_strip_nulls(jsonb_build_object('moved_from', (
        select lenses.fn_moved_text(s, q.slot)
        from lenses.workflow_schedules as s where s.id = q.schedule_id)))
      else q.payload end,
    p_now
  from (
    select
      d.lenser_id, d.schedule_id, d.slot, d.decision, d.is_movable,
      case
        when d.decision = 'dispatch' and d.rotation_index is null then
          jsonb_build_object('run_id', d.run_id, 'scheduled_for', d.slot)
        when d.decision = 'dispatch' then
          jsonb_build_object(
            'run_id', d.run_id, 'scheduled_for', d.slot, 'rotation_index_used', d.rotation_index)
        else
          jsonb_build_object('reason', d.reason, 'scheduled_for', d.slot, 'detail', d.detail)
      end as payload
    from unnest(p_decisions) as d
    where d.decision in ('dispatch', 'skip')
  ) as q;

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
