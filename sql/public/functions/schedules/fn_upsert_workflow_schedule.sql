-- For the owner. Safe to repeat, and safe to run twice at once: an unknown id is created, and the
-- owner's own row is replaced except for its pause. An id of another tenant raises the same error
-- as a wrong workflow.
create or replace function public.fn_upsert_workflow_schedule(
  p_workflow_id uuid,
  p_schedule_id uuid default null,
  p_cron_expr text default '* * * * *',
  p_timezone text default 'UTC',
  p_global_model_id text default null,
  p_inputs_template jsonb default '{}',
  p_is_active boolean default true,
  p_assignee_type text default 'agent',
  p_assignee_id uuid default null,
  p_workflow_assignment_id uuid default null,
  p_approval_policy jsonb default '{"requiresApproval":true}',
  p_retry_policy jsonb default '{"maxRetries":1}',
  p_failure_policy jsonb default '{"mode":"isolate"}',
  p_queue_policy jsonb default '{"mode":"parallel"}',
  p_description text default null,
  p_schedule_type text default null,
  p_interval_ms bigint default null,
  p_start_at timestamptz default null,
  p_end_at timestamptz default null,
  p_jitter_ms integer default null,
  p_calendar_id uuid default null,
  p_pre_dispatch_condition jsonb default null,
  p_inputs_rotation jsonb default null,
  p_workflow_version integer default null,
  p_name text default null,
  p_run_at timestamptz default null,
  p_on_holiday text default null
)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_defaults constant jsonb := lenses.fn_default_policies();
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_from_workflow_id uuid;
  v_row lenses.workflow_schedules;
  v_is_new boolean;
begin
  perform lenses.fn_require_workflow(p_workflow_id);
  select s.workflow_id into v_from_workflow_id
  from lenses.workflow_schedules as s
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id;
  if v_from_workflow_id <> p_workflow_id then
    -- a move changes trigger_type of both: workflows are locked before schedules
    perform from lenses.workflows as w
    where w.id in (v_from_workflow_id, p_workflow_id)
    order by w.id
    for no key update;
  end if;

  for v_try in 1 .. 3 loop
    select s.* into v_row
    from lenses.workflow_schedules as s
    where s.id = p_schedule_id and s.lenser_id = v_lenser_id
    for no key update;
    v_is_new := not found;
    v_row.id := coalesce(v_row.id, p_schedule_id);
    v_row.lenser_id := v_lenser_id;
    v_row.trigger_id := case when v_row.workflow_id = p_workflow_id then v_row.trigger_id end;
    v_row.workflow_id := p_workflow_id;
    v_row.workflow_version := p_workflow_version;
    v_row.description := p_description;
    v_row.schedule_type := coalesce(
      p_schedule_type, case
        when p_interval_ms is not null then 'interval'
        when p_run_at is not null then 'once'
        else 'cron' end);
    v_row.cron_expr := case
      when v_row.schedule_type in ('interval', 'once') then nullif(p_cron_expr, '* * * * *')
      else p_cron_expr
    end;
    v_row.run_at := p_run_at;
    v_row.name := p_name;
    v_row.on_holiday := p_on_holiday;
    v_row.interval_ms := p_interval_ms;
    v_row.timezone := p_timezone;
    v_row.start_at := p_start_at;
    v_row.end_at := p_end_at;
    v_row.jitter_ms := p_jitter_ms;
    v_row.is_active := coalesce(p_is_active, true) and v_row.paused_at is null;
    v_row.assignee_type := p_assignee_type;
    v_row.assignee_id := p_assignee_id;
    v_row.workflow_assignment_id := p_workflow_assignment_id;
    -- A parameter's default cannot be told from no parameter: both leave the policy out.
    v_row.approval_policy := nullif(p_approval_policy, c_defaults -> 'approval_policy');
    v_row.retry_policy := nullif(p_retry_policy, c_defaults -> 'retry_policy');
    v_row.failure_policy := nullif(p_failure_policy, c_defaults -> 'failure_policy');
    v_row.queue_policy := nullif(p_queue_policy, c_defaults -> 'queue_policy');
    v_row.inputs_template := p_inputs_template;
    v_row.inputs_rotation := p_inputs_rotation;
    v_row.calendar_id := p_calendar_id;
    v_row.pre_dispatch_condition := p_pre_dispatch_condition;
    v_row.global_model_id := p_global_model_id;

    v_row := lenses.fn_save_schedule(v_row, v_is_new);
    if v_row.id is not null then
      return v_row;
    end if;
  end loop;
  return lenses.fn_require_schedule(p_schedule_id);
end;
$$;

comment on function public.fn_upsert_workflow_schedule(
  uuid, uuid, text, text, text, jsonb, boolean, text, uuid, uuid, jsonb, jsonb, jsonb, jsonb, text,
  text, bigint, timestamptz, timestamptz, integer, uuid, jsonb, jsonb, integer, text, timestamptz,
  text
) is
  'Creates a schedule of the caller''s workflow, or replaces the whole schedule p_schedule_id of '
  'the caller; an unknown id is created. p_cron_expr in p_timezone (IANA), or p_interval_ms '
  '(milliseconds, at least 300000) alone, or p_run_at, one slot, alone; p_name is unique among '
  'the caller''s; p_on_holiday skip, before or after decides about slots on dates that '
  'p_calendar_id closes; p_jitter_ms 0 to 86400000, NULL is the server''s default; a policy that '
  'is NULL or the parameter''s default is left out: its assignment''s and the server''s hold '
  '(fn_patch_workflow_schedule spells a default out). A pause is kept; a change that moves no '
  'slot keeps next_run_at and due_at. Returns the row. 22023: bad input, cycle_detected; 42501: '
  'workflow or schedule is not the caller''s; 53400: too many schedules.';
