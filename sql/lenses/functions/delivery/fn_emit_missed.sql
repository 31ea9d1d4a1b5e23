-- owner: lf_sql_engine
-- schedule.missed, an event a plan that has dropped slots.
create or replace function lenses.fn_emit_missed(p_plans lenses.slot_plan[], p_now timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_events jsonb;
begin
  if not lenses.fn_wants_event('schedule.missed') then
    return;
  end if;
  v_events := (
    select jsonb_agg(jsonb_build_object(
      'lenser_id', s.lenser_id, 'schedule_id', s.id, 'data', jsonb_build_object(
        'scheduled_for', p.dropped_last, 'cause', 'missed', 'count', p.dropped_count,
        'first', p.dropped_first, 'last', p.dropped_last)))
    from unnest(p_plans) as p
    inner join lenses.workflow_schedules as s on s.id = p.schedule_id
    where p.dropped_count > 0);
  if v_events is not null then
    perform lenses.fn_emit_events('schedule.missed', v_events, p_now);
  end if;
end;
$$;
