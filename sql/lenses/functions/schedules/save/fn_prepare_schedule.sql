-- owner: lf_sql_engine
-- Validates a schedule row before it is written and fills what follows from it: cron_spec, the
-- limits of queue_policy, defaults from the settings. p_old is NULL for an INSERT. It does not look
-- up what did not change, so that a schedule whose assignee is gone can still be edited. Raises
-- 22023 with the value, 23503 where the workflow does not exist.
create or replace function lenses.fn_prepare_schedule(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_new lenses.workflow_schedules := p_new;
  v_is_insert boolean := p_old.id is null;
  v_cycle text[];
  v_queue jsonb;
begin
  if v_new.lenser_id is null then
    select w.lenser_id into v_new.lenser_id
    from lenses.workflows as w where w.id = v_new.workflow_id;
    if v_new.lenser_id is null then
      raise exception using
        errcode = '23503',
        column = 'workflow_id',
        message = format('workflow %s does not exist', coalesce(v_new.workflow_id::text, 'NULL')),
        hint = 'Create the workflow first.';
    end if;
  end if;
  if v_new.jitter_ms is null then
    select d.default_jitter_ms into v_new.jitter_ms from lenses.dispatch_settings as d;
  end if;
  if v_new.schedule_type is null then
    v_new.schedule_type := case
      when v_new.cron_expr is null and v_new.interval_ms is not null then 'interval'
      when v_new.cron_expr is null and v_new.run_at is not null then 'once'
      else 'cron' end;
  end if;

  v_new := lenses.fn_check_schedule_rule(v_new, p_old);

  perform lenses.fn_check_instant(v_new.next_run_at, 'next_run_at', p_old.next_run_at);
  perform lenses.fn_check_instant(v_new.due_at, 'due_at', p_old.due_at);
  perform lenses.fn_check_instant(v_new.created_at, 'created_at', p_old.created_at);
  perform lenses.fn_check_instant(v_new.start_at, 'start_at', p_old.start_at);
  perform lenses.fn_check_instant(v_new.end_at, 'end_at', p_old.end_at);
  perform lenses.fn_check_instant(v_new.paused_at, 'paused_at', p_old.paused_at);
  perform lenses.fn_check_instant(v_new.paused_until, 'paused_until', p_old.paused_until);
  if v_is_insert or v_new.timezone is distinct from p_old.timezone then
    perform lenses.fn_require_timezone(v_new.timezone);
  end if;
  perform lenses.fn_check_schedule_name(v_new, p_old);
  perform lenses.fn_check_text(v_new.description, 'description', 2000);
  perform lenses.fn_check_text(v_new.global_model_id, 'global_model_id', 500);
  perform lenses.fn_check_text(v_new.pause_note, 'pause_note', 2000);
  if v_new.end_at < v_new.start_at then
    raise exception using
      errcode = '22023',
      column = 'end_at',
      message = format('end_at %s is before start_at %s', v_new.end_at, v_new.start_at),
      hint = 'Both belong to the window; end_at must not be earlier.';
  end if;
  if v_new.jitter_ms not between 0 and 86400000 then
    raise exception using
      errcode = '22023',
      column = 'jitter_ms',
      message = format('jitter_ms %s is out of range', v_new.jitter_ms),
      hint = 'Allowed are 0 to 86400000 (a day) milliseconds.';
  end if;
  if v_new.missed_override not in ('skip', 'run_once', 'backfill', 'spread') then
    raise exception using
      errcode = '22023',
      column = 'missed_override',
      message = format('onMissed "%s" is not known', v_new.missed_override),
      hint = 'Use skip, run_once, backfill or spread.';
  end if;

  v_new := lenses.fn_fill_policies(v_new, p_old);
  if v_is_insert or lenses.fn_is_changed(v_new.approval_policy, p_old.approval_policy) then
    perform lenses.fn_check_approval_policy(v_new.approval_policy);
  end if;
  if v_is_insert or lenses.fn_is_changed(v_new.retry_policy, p_old.retry_policy) then
    perform lenses.fn_check_retry_policy(v_new.retry_policy);
  end if;
  if v_is_insert or lenses.fn_is_changed(v_new.failure_policy, p_old.failure_policy) then
    perform lenses.fn_check_failure_policy(v_new.failure_policy);
  end if;
  if v_is_insert or lenses.fn_is_changed(v_new.queue_policy, p_old.queue_policy) then
    perform lenses.fn_check_queue_policy(v_new.queue_policy);
  end if;
  if v_new.workflow_assignment_id is not null then
    -- Before the links are checked: a change of the assignment waits for this, and then finds this
    -- schedule among those that use it; or this waits for the change, and then finds it made.
    perform from agents.workflow_assignments as a
    where a.id = v_new.workflow_assignment_id
    for share;
  end if;
  perform lenses.fn_check_schedule_links(v_new, p_old);

  if v_is_insert or lenses.fn_is_changed(v_new.inputs_template, p_old.inputs_template) then
    perform lenses.fn_check_json(v_new.inputs_template, 'inputs_template', 262144, 64, 20000);
  end if;
  if lenses.fn_is_changed(v_new.inputs_rotation, p_old.inputs_rotation) then
    if jsonb_typeof(v_new.inputs_rotation) not in ('array', 'null') then
      raise exception using
        errcode = '22023',
        column = 'inputs_rotation',
        message = format(
          'inputs_rotation must be an array, not %s', jsonb_typeof(v_new.inputs_rotation)
        ),
        hint = 'Give an array of inputs, one a dispatch, or NULL.';
    end if;
    perform lenses.fn_check_json(v_new.inputs_rotation, 'inputs_rotation', 1048576, 64, 50000);
    v_new.inputs_rotation := nullif(v_new.inputs_rotation, 'null');
    if not v_is_insert and v_new.last_rotation_index = p_old.last_rotation_index then
      v_new.last_rotation_index := 0;
    end if;
  end if;
  if lenses.fn_is_changed(v_new.pre_dispatch_condition, p_old.pre_dispatch_condition) then
    v_new.pre_dispatch_condition := nullif(v_new.pre_dispatch_condition, 'null');
    perform automation.fn_check_filter(v_new.pre_dispatch_condition);
  end if;

  v_queue := lenses.fn_effective_policies(v_new) -> 'queue_policy';
  if v_new.queue_policy ->> 'onOverlap' = 'skip' and not v_queue ? 'onOverlap'
    and (v_is_insert or (v_new.queue_policy, v_new.workflow_assignment_id)
      is distinct from (p_old.queue_policy, p_old.workflow_assignment_id)) then
    perform lenses.fn_check_queue_policy(v_queue || '{"onOverlap": "skip"}');
  end if;
  select l.* into
    v_new.max_in_flight, v_new.on_missed, v_new.on_overlap, v_new.max_backfill,
    v_new.spread_window_ms
  from lenses.fn_queue_limits(v_queue) as l;
  v_new.is_sequential := v_new.max_in_flight is not null
    or coalesce(v_new.pre_dispatch_condition, '{}') <> '{}';

  if v_new.is_active and (not coalesce(p_old.is_active, false)
    or v_new.workflow_id is distinct from p_old.workflow_id
    or v_new.workflow_version is distinct from p_old.workflow_version) then
    select v.cycle into v_cycle
    from lenses.workflows as w
    inner join lenses.workflow_versions as v
      on v.workflow_id = w.id and v.version = coalesce(v_new.workflow_version, w.version)
    where w.id = v_new.workflow_id;
    if v_cycle is not null then
      raise exception using
        errcode = '22023',
        column = 'workflow_id',
        message = format(
          'cycle_detected: the workflow''s graph has the cycle %s', array_to_string(v_cycle, ' -> ')
        ),
        hint = 'Remove an edge of the cycle, or save the schedule inactive.';
    end if;
  end if;
  return v_new;
end;
$$;
