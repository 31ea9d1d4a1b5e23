-- Validates the row and sets the next slot, for every writer but the dispatcher; then the due row
-- follows. A save that changes nothing is looked at where the next slot is missing. JSON is
-- compared as text, like lenses.fn_is_changed.
create or replace trigger workflow_schedules_check_insert
before insert on lenses.workflow_schedules
for each row execute function lenses.tg_workflow_schedules_check();

create or replace trigger workflow_schedules_check_update
before update of
  lenser_id, workflow_id, workflow_version, description, schedule_type, cron_expr,
  interval_ms, timezone, start_at, end_at, jitter_ms, is_active, paused_at, paused_until,
  pause_note, assignee_type, assignee_id, workflow_assignment_id, approval_policy,
  retry_policy, failure_policy, queue_policy, inputs_template, inputs_rotation, calendar_id,
  pre_dispatch_condition, global_model_id, next_run_at, due_at, cron_spec, max_in_flight,
  on_overlap, on_missed, max_backfill, spread_window_ms, is_sequential, missed_override,
  created_at, name, run_at, on_holiday, explicit_defaults
on lenses.workflow_schedules
for each row
when (
  (old.dispatch_seq = new.dispatch_seq or current_user <> 'lf_sql_engine')
  and (new.next_run_at is null or (
    old.lenser_id, old.workflow_id, old.workflow_version, old.description, old.schedule_type,
    old.cron_expr, old.interval_ms, old.timezone, old.start_at, old.end_at, old.jitter_ms,
    old.is_active, old.paused_at, old.paused_until, old.pause_note, old.assignee_type,
    old.assignee_id, old.workflow_assignment_id, old.approval_policy::text,
    old.retry_policy::text, old.failure_policy::text, old.queue_policy::text,
    old.inputs_template::text, old.inputs_rotation::text, old.calendar_id,
    old.pre_dispatch_condition::text, old.global_model_id, old.next_run_at,
    old.due_at, old.cron_spec, old.max_in_flight, old.on_overlap, old.on_missed,
    old.max_backfill, old.spread_window_ms, old.is_sequential, old.missed_override,
    old.created_at, old.name, old.run_at, old.on_holiday, old.explicit_defaults
  ) is distinct from (
    new.lenser_id, new.workflow_id, new.workflow_version, new.description, new.schedule_type,
    new.cron_expr, new.interval_ms, new.timezone, new.start_at, new.end_at, new.jitter_ms,
    new.is_active, new.paused_at, new.paused_until, new.pause_note, new.assignee_type,
    new.assignee_id, new.workflow_assignment_id, new.approval_policy::text,
    new.retry_policy::text, new.failure_policy::text, new.queue_policy::text,
    new.inputs_template::text, new.inputs_rotation::text, new.calendar_id,
    new.pre_dispatch_condition::text, new.global_model_id, new.next_run_at,
    new.due_at, new.cron_spec, new.max_in_flight, new.on_overlap, new.on_missed,
    new.max_backfill, new.spread_window_ms, new.is_sequential, new.missed_override,
    new.created_at, new.name, new.run_at, new.on_holiday, new.explicit_defaults
  ))
)
execute function lenses.tg_workflow_schedules_check();

create or replace trigger workflow_schedules_guard_approval
before update of approval_policy, workflow_assignment_id, workflow_id on lenses.workflow_schedules
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and (old.approval_policy, old.workflow_assignment_id, old.workflow_id)
  is distinct from (new.approval_policy, new.workflow_assignment_id, new.workflow_id)
)
execute function lenses.tg_workflow_schedules_approval();

create or replace trigger workflow_schedules_guard_approval_insert
before insert on lenses.workflow_schedules
for each row
when (current_user not in ('lf_sql_owner', 'lf_sql_engine'))
execute function lenses.tg_workflow_schedules_approval();

create or replace trigger workflow_schedules_due_insert
after insert on lenses.workflow_schedules
for each row execute function lenses.tg_workflow_schedules_due();

create or replace trigger workflow_schedules_due_update
after update of
  lenser_id, workflow_id, workflow_version, description, schedule_type, cron_expr,
  interval_ms, timezone, start_at, end_at, jitter_ms, is_active, paused_at, paused_until,
  pause_note, assignee_type, assignee_id, workflow_assignment_id, approval_policy,
  retry_policy, failure_policy, queue_policy, inputs_template, inputs_rotation, calendar_id,
  pre_dispatch_condition, global_model_id, next_run_at, due_at, cron_spec, max_in_flight,
  on_overlap, on_missed, max_backfill, spread_window_ms, is_sequential, missed_override,
  created_at, name, run_at, on_holiday, explicit_defaults
on lenses.workflow_schedules
for each row
when (
  (old.dispatch_seq = new.dispatch_seq or current_user <> 'lf_sql_engine')
  and (old.due_at, old.pre_dispatch_condition, old.inputs_template, old.inputs_rotation)
  is distinct from (new.due_at, new.pre_dispatch_condition, new.inputs_template,
    new.inputs_rotation)
)
execute function lenses.tg_workflow_schedules_due();

create or replace trigger workflow_schedules_trigger_type_insert
after insert on lenses.workflow_schedules
referencing new table as new_rows
for each statement execute function lenses.tg_workflow_schedules_trigger_type();

create or replace trigger workflow_schedules_trigger_type_delete
after delete on lenses.workflow_schedules
referencing old table as old_rows
for each statement execute function lenses.tg_workflow_schedules_trigger_type();

alter table lenses.workflow_schedules enable always trigger workflow_schedules_check_insert;
alter table lenses.workflow_schedules enable always trigger workflow_schedules_check_update;
alter table lenses.workflow_schedules enable always trigger workflow_schedules_guard_approval;
alter table lenses.workflow_schedules
  enable always trigger workflow_schedules_guard_approval_insert;

create or replace trigger workflow_schedules_trigger_type_update
after update of workflow_id on lenses.workflow_schedules
for each row
when (old.workflow_id <> new.workflow_id)
execute function lenses.tg_workflow_schedules_trigger_type();

-- Quotas. The tick writes none of these columns. By their names they come after the triggers that
-- lock the workflow: saving a definition locks it first.
create or replace trigger workflow_schedules_usage_insert
after insert on lenses.workflow_schedules
referencing new table as new_rows
for each statement execute function lenses.tg_workflow_schedules_quota();

create or replace trigger workflow_schedules_usage_delete
after delete on lenses.workflow_schedules
referencing old table as old_rows
for each statement execute function lenses.tg_workflow_schedules_quota();

create or replace trigger workflow_schedules_usage_truncate
after truncate on lenses.workflow_schedules
for each statement execute function lenses.tg_workflow_schedules_quota();

create or replace trigger workflow_schedules_usage_change
after update of inputs_template, inputs_rotation, pre_dispatch_condition
on lenses.workflow_schedules
for each row
when (
  (old.inputs_template::text, old.inputs_rotation::text, old.pre_dispatch_condition::text)
  is distinct from
  (new.inputs_template::text, new.inputs_rotation::text, new.pre_dispatch_condition::text)
)
execute function lenses.tg_workflow_schedules_quota_change();

create or replace trigger workflow_schedules_instants
before insert or update on lenses.workflow_schedules
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.workflow_schedules enable always trigger workflow_schedules_instants;

create or replace trigger workflow_schedules_tenant_here
before insert or update on lenses.workflow_schedules
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.workflow_schedules enable always trigger workflow_schedules_tenant_here;

create or replace trigger workflow_schedules_tenant_held
before insert on lenses.workflow_schedules
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.workflow_schedules enable always trigger workflow_schedules_tenant_held;
