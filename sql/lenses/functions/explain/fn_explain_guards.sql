-- owner: lf_sql_engine
-- What each guard decides about a slot at p_now, in order: [{"guard", "reason", "is_met",
-- "detail"}], the quota of waiting runs last. Every guard runs, even after one that refuses. For
-- past slots the ledger has what was decided at the time.
create or replace function lenses.fn_explain_guards(
  p_schedule lenses.workflow_schedules,
  p_slot timestamptz,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_workflow lenses.workflows;
  v_calendar lenses.schedule_calendars;
  v_version lenses.workflow_versions;
  v_assignee_type text := p_schedule.assignee_type;
  v_assignee_id uuid := p_schedule.assignee_id;
  v_day date;
  v_is_named boolean;
  v_failure text;
  v_budget record;
  v_in_flight bigint;
  v_has_assignee boolean;
  v_run_id uuid;
  v_cap integer;
  v_waiting bigint;
  v_is_replacing boolean := false;
begin
  select d.max_pending_runs_per_lenser into v_cap from lenses.dispatch_settings as d;
  if v_cap is not null then
    v_waiting := lenses.fn_waiting_runs(p_schedule.lenser_id, v_cap);
  end if;
  select w.* into v_workflow from lenses.workflows as w where w.id = p_schedule.workflow_id;
  select c.* into v_calendar
  from lenses.schedule_calendars as c where c.id = p_schedule.calendar_id;
  select v.* into v_version
  from lenses.workflow_versions as v
  where v.workflow_id = v_workflow.id
    and v.version = coalesce(p_schedule.workflow_version, v_workflow.version);
  if v_assignee_id is null then
    select a.assignee_type, a.assignee_id into v_assignee_type, v_assignee_id
    from agents.workflow_assignments as a where a.id = p_schedule.workflow_assignment_id;
  end if;
  v_day := (p_slot at time zone v_calendar.timezone)::date;
  v_is_named := exists (select from lenses.fn_calendar_dates(v_calendar.id, v_day, v_day));
  if coalesce(p_schedule.pre_dispatch_condition, '{}') <> '{}' then
    v_failure := lenses.fn_condition_failure(
      p_schedule.id, p_schedule.pre_dispatch_condition, lenses.fn_condition_context(
        p_schedule.lenser_id, p_schedule.workflow_id, p_now));
  end if;
  v_has_assignee := v_assignee_id is null or lenses.fn_has_assignee(
    p_schedule.lenser_id, v_assignee_type, v_assignee_id);
  select b.is_overspent, b.battles_left into v_budget
  from lenses.fn_budgets(array[v_assignee_id], p_now) as b where v_assignee_id is not null;
  select count(*) into v_in_flight
  from lenses.workflow_runs as r
  where r.schedule_id = p_schedule.id and r.status in ('pending_approval', 'pending', 'running');
  if v_in_flight >= p_schedule.max_in_flight then
    -- What onOverlap is by default is the judge's to say.
    select d.is_replacing into v_is_replacing
    from lenses.fn_evaluate_slots(
      array[row(p_schedule.id, p_slot, p_slot, false, null)::lenses.slot_candidate], p_now,
      'preview') as d;
  end if;
  select r.id into v_run_id
  from lenses.workflow_runs as r
  where r.id = substr(lenses.fn_slot_key(p_schedule.id, p_slot), 1, 32)::uuid
    or r.schedule_id = p_schedule.id and r.scheduled_for = p_slot
    or r.idempotency_key = lenses.fn_slot_key(p_schedule.id, p_slot)
  limit 1;
  return jsonb_build_array(
    jsonb_build_object(
      'guard', 'workflow', 'reason', 'workflow_not_active',
      'is_met', coalesce(v_workflow.status = 'active', false),
      'detail', format('the workflow is %s', coalesce(v_workflow.status, 'gone'))),
    jsonb_build_object(
      'guard', 'calendar', 'reason', 'calendar',
      'is_met', p_schedule.calendar_id is null
        or coalesce(v_is_named = (v_calendar.kind = 'only_dates'), false),
      'detail', case
        when p_schedule.calendar_id is null then 'no calendar'
        when v_calendar.id is null then 'the calendar is gone'
        else format('%s %s %s', v_calendar.name,
          case when v_is_named then 'names' else 'does not name' end,
          to_char(v_day, 'Dy YYYY-MM-DD')) end),
    jsonb_build_object(
      'guard', 'condition', 'reason', 'condition_failed', 'is_met', v_failure is null,
      'detail', case
        when coalesce(p_schedule.pre_dispatch_condition, '{}') = '{}' then 'no condition'
        when v_failure is null then 'the condition holds now'
        else 'the condition does not hold now: ' || v_failure end),
    jsonb_build_object(
      'guard', 'assignee', 'reason', 'assignee_missing', 'is_met', v_has_assignee,
      'detail', case
        when v_assignee_id is null then 'any executor'
        when v_has_assignee then format('%s %s', v_assignee_type, v_assignee_id)
        else format('%s %s is gone', v_assignee_type, v_assignee_id) end),
    jsonb_build_object(
      'guard', 'budget', 'reason', 'budget_exceeded',
      'is_met', not coalesce(v_budget.is_overspent
        or v_workflow.kind = 'battle' and v_budget.battles_left <= 0, false),
      'detail', case
        when v_budget.is_overspent then 'the assignee''s credits of today are spent'
        when v_workflow.kind = 'battle' and v_budget.battles_left <= 0
          then 'the assignee''s battles of today are used up'
        else 'within today''s limits' end),
    jsonb_build_object(
      'guard', 'overlap', 'reason', 'overlap_in_flight',
      'is_met', p_schedule.max_in_flight is null or v_in_flight < p_schedule.max_in_flight
        or v_is_replacing,
      'detail', format('%s %s in flight now, %s%s', v_in_flight,
        case v_in_flight when 1 then 'run' else 'runs' end,
        coalesce('of ' || p_schedule.max_in_flight || ' at most', 'without a limit'),
        case when v_is_replacing then '; the oldest gives way' else '' end)),
    jsonb_build_object(
      'guard', 'graph', 'reason', 'cycle_detected', 'is_met', v_version.cycle is null,
      'detail', coalesce('cycle ' || array_to_string(v_version.cycle, ' -> '), 'no cycle')),
    jsonb_build_object(
      'guard', 'slot', 'reason', 'schedule_slot_exists', 'is_met', v_run_id is null,
      'detail', coalesce('run ' || v_run_id || ' has it already', 'no run has it yet')),
    jsonb_build_object(
      'guard', 'quota', 'reason', 'pending_quota',
      'is_met', v_cap is null or v_waiting < v_cap,
      'detail', case
        when v_cap is null then 'runs may wait without a limit'
        else format('%s of the tenant''s runs %s now, of %s at most', v_waiting,
          case v_waiting when 1 then 'waits' else 'wait' end, v_cap) end));
end;
$$;
