-- owner: lf_sql_engine
-- For public.fn_backfill_schedule, which has checked the range. It determines the caller itself. It
-- locks the schedule, so that neither the tick nor another backfill handles a slot meanwhile. A
-- slot that has a run is left alone, and a slot that the tick has not reached is skipped by the
-- tick afterwards.
create or replace function lenses.fn_backfill(
  p_schedule_id uuid,
  p_since timestamptz,
  p_until timestamptz,
  p_dry_run boolean
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_schedule lenses.workflow_schedules := lenses.fn_require_schedule(p_schedule_id);
  v_slots timestamptz[];
  v_decisions lenses.slot_decision[];
  v_battles_left bigint;
  v_dispatched integer;
begin
  if not p_dry_run then
    perform lenses.fn_lock_for_dispatch(v_schedule.id);
  end if;
  v_slots := array(
    select lenses.fn_next_slots(
      v_schedule.id, p_since - interval '1 microsecond', p_until, 10001));
  if cardinality(v_slots) > 10000 then
    raise exception using
      errcode = '22023',
      column = 'since',
      message = format('there are more than 10000 slots between %s and %s', p_since, p_until),
      hint = format('The 10000th is at %s: go on from there afterwards.', v_slots[10000]);
  end if;

  v_decisions := array(
    select d
    from lenses.fn_evaluate_slots(
      array(
        select row(v_schedule.id, q.slot, q.slot, false, null)::lenses.slot_candidate
        from unnest(v_slots) as q (slot)
      ), now(), 'backfill') as d);
  select b.battles_left into v_battles_left
  from lenses.workflows as w
  cross join lateral lenses.fn_budgets((
    select array_agg(distinct coalesce(d.ai_lenser_id, d.team_id)) from unnest(v_decisions) as d
  ), now()) as b
  where w.id = v_schedule.workflow_id and w.kind = 'battle';
  v_decisions := lenses.fn_cap_decisions(v_decisions, v_battles_left);

  select count(*) into v_dispatched from unnest(v_decisions) as d where d.decision = 'dispatch';
  perform lenses.fn_check_waiting_runs(v_schedule.lenser_id, v_dispatched, false);
  if not p_dry_run then
    perform lenses.fn_insert_runs(
      v_decisions, now(), 'backfill', v_schedule.lenser_id::text);
    v_decisions := lenses.fn_resolve_conflicts(v_decisions, now());
  end if;
  select count(*) into v_dispatched from unnest(v_decisions) as d where d.decision = 'dispatch';

  if not p_dry_run then
    update lenses.workflow_schedules as s
    set last_rotation_index = s.last_rotation_index + v_dispatched
    where s.id = v_schedule.id and s.inputs_rotation is not null and v_dispatched > 0;
    insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
    select v_schedule.lenser_id, v_schedule.id, 'dispatch_schedule', jsonb_strip_nulls(
      jsonb_build_object(
        'run_id', d.run_id, 'scheduled_for', d.slot, 'rotation_index_used', d.rotation_index,
        'trigger_mode', 'backfill'))
    from unnest(v_decisions) as d
    where d.decision = 'dispatch';
  end if;
  return jsonb_build_object(
    'slots', coalesce((
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'scheduled_for', d.slot, 'decision', d.decision, 'reason', coalesce(d.reason, 'ok'),
        'run_id', case when d.decision = 'dispatch' and not p_dry_run then d.run_id end
      )) order by d.slot)
      from unnest(v_decisions) as d
    ), '[]')
  ) || case
    when p_dry_run then jsonb_build_object('would_dispatch', v_dispatched)
    else jsonb_build_object(
      'dispatched', v_dispatched, 'skipped', cardinality(v_decisions) - v_dispatched)
  end;
end;
$$;
