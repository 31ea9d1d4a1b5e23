-- Calendars, schedules, and the narrow due table that each tick scans and rewrites.
create table lenses.timezones (
  name text not null,
  constraint timezones_pkey primary key (name)
);

comment on table lenses.timezones is 'Zone names seen in pg_timezone_names, so that saving a schedule need not scan that view (25 ms) each time.';

create table lenses.schedule_calendars (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid,
  name text not null,
  kind text not null,
  timezone text not null default 'UTC',
  dates date[] not null,
  is_seed boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint schedule_calendars_pkey primary key (id),
  constraint schedule_calendars_lenser_id_name_key unique nulls not distinct (lenser_id, name),
  constraint schedule_calendars_lenser_id_fkey foreign key (lenser_id)
    references lensers.profiles (id),
  constraint schedule_calendars_name_check check (char_length(name) between 1 and 200),
  constraint schedule_calendars_kind_check check (kind in ('skip_dates', 'only_dates')),
  constraint schedule_calendars_is_seed_check check (is_seed = (lenser_id is null)),
  constraint schedule_calendars_dates_check
    check (cardinality(dates) between 1 and 10000 and array_position(dates, null) is null)
);

comment on table lenses.schedule_calendars is 'Date overlays. Seeds (lenser_id NULL) are read-only for everyone and visible to every authenticated caller.';
comment on column lenses.schedule_calendars.kind is 'skip_dates: a slot on a listed date is skipped; only_dates: a slot on any other date is.';
comment on column lenses.schedule_calendars.timezone is 'The slot''s date is taken in this zone, whatever the schedule''s own.';
comment on column lenses.schedule_calendars.dates is '1 to 10,000 dates, kept sorted and distinct.';

create table lenses.workflow_schedules (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  workflow_id uuid not null,
  workflow_version integer,
  description text,
  schedule_type text not null,
  cron_expr text,
  interval_ms bigint,
  timezone text not null default 'UTC',
  start_at timestamptz,
  end_at timestamptz,
  jitter_ms integer not null,
  is_active boolean not null default true,
  paused_at timestamptz,
  paused_until timestamptz,
  pause_note text,
  assignee_type text not null default 'agent',
  assignee_id uuid,
  workflow_assignment_id uuid,
  approval_policy jsonb not null default '{"requiresApproval":true}',
  retry_policy jsonb not null default '{"maxRetries":1}',
  failure_policy jsonb not null default '{"mode":"isolate"}',
  queue_policy jsonb not null default '{"mode":"parallel"}',
  inputs_template jsonb not null default '{}',
  inputs_rotation jsonb,
  last_rotation_index integer not null default 0,
  calendar_id uuid,
  pre_dispatch_condition jsonb,
  global_model_id text,
  trigger_id text,
  next_run_at timestamptz,
  due_at timestamptz,
  last_run_at timestamptz,
  last_run_id uuid,
  last_dispatch_status text,
  last_error_at timestamptz,
  last_error_message text,
  last_completed_at timestamptz,
  last_result jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  cron_spec lenses.cron_spec,
  max_in_flight integer,
  on_overlap text,
  on_missed text,
  max_backfill integer not null default 100,
  spread_window_ms bigint not null default 60000,
  is_sequential boolean not null default false,
  dispatch_seq bigint not null default 0,
  failure_count smallint not null default 0,
  is_deferred boolean not null default false,
  tick_id bigint,
  tick_slots integer not null default 0,
  seen_until timestamptz,
  missed_before timestamptz,
  missed_override text,
  missed tstzmultirange,
  dropped tstzmultirange,
  spread_next_at timestamptz,
  spread_step interval,
  constraint workflow_schedules_pkey primary key (id),
  constraint workflow_schedules_id_lenser_id_key unique (id, lenser_id),
  constraint workflow_schedules_workflow_id_trigger_id_key unique (workflow_id, trigger_id),
  constraint workflow_schedules_workflow_id_lenser_id_fkey foreign key (workflow_id, lenser_id)
    references lenses.workflows (id, lenser_id) on delete cascade,
  constraint workflow_schedules_calendar_id_fkey foreign key (calendar_id)
    references lenses.schedule_calendars (id),
  constraint workflow_schedules_workflow_assignment_id_lenser_id_fkey
    foreign key (workflow_assignment_id, lenser_id)
    references agents.workflow_assignments (id, lenser_id),
  constraint workflow_schedules_schedule_type_check check (
    (schedule_type = 'cron' and cron_expr is not null and interval_ms is null)
    or (schedule_type = 'interval' and interval_ms is not null and cron_expr is null)),
  constraint workflow_schedules_interval_ms_check
    check (interval_ms between 300000 and 316224000000),
  constraint workflow_schedules_jitter_ms_check check (jitter_ms between 0 and 86400000),
  constraint workflow_schedules_end_at_check check (end_at >= start_at),
  constraint workflow_schedules_paused_at_check check (paused_at is null or not is_active),
  constraint workflow_schedules_due_at_check check (is_active or due_at is null),
  constraint workflow_schedules_assignee_type_check check (assignee_type in ('agent', 'team')),
  constraint workflow_schedules_missed_override_check
    check (missed_override in ('skip', 'run_once', 'backfill', 'spread')),
  constraint workflow_schedules_last_rotation_index_check check (last_rotation_index >= 0),
  constraint workflow_schedules_description_check check (char_length(description) <= 2000),
  constraint workflow_schedules_pause_note_check check (char_length(pause_note) <= 2000),
  constraint workflow_schedules_global_model_id_check check (char_length(global_model_id) <= 500)
) with (fillfactor = 50);

-- No index on a column that a tick writes: a dispatch is a HOT update.
create index workflow_schedules_workflow_id_lenser_id_idx
  on lenses.workflow_schedules (workflow_id, lenser_id);
create index workflow_schedules_lenser_id_created_at_idx
  on lenses.workflow_schedules (lenser_id, created_at);
create index workflow_schedules_calendar_id_idx on lenses.workflow_schedules (calendar_id)
  where calendar_id is not null;
create index workflow_schedules_workflow_assignment_id_lenser_id_idx
  on lenses.workflow_schedules (workflow_assignment_id, lenser_id)
  where workflow_assignment_id is not null;
create index workflow_schedules_paused_until_idx on lenses.workflow_schedules (paused_until)
  where paused_until is not null and not is_active;

comment on table lenses.workflow_schedules is 'When a workflow starts, by whom and under which policies. A row that comes by any path is validated by the table''s own trigger.';
comment on column lenses.workflow_schedules.workflow_version is 'Pinned version; NULL: the newest at dispatch.';
comment on column lenses.workflow_schedules.interval_ms is 'Milliseconds between slots, at least 300000; slots are anchored at start_at, else at created_at cut to the minute.';
comment on column lenses.workflow_schedules.timezone is 'IANA name in which cron_expr is read; intervals know no zone.';
comment on column lenses.workflow_schedules.jitter_ms is 'A slot''s due time lies within plus or minus this many milliseconds, the same each time for that slot; 0 to a day.';
comment on column lenses.workflow_schedules.paused_at is 'Set while paused; is_active false without it is a disabled schedule.';
comment on column lenses.workflow_schedules.paused_until is 'The pause ends by itself at this instant.';
comment on column lenses.workflow_schedules.assignee_id is 'agents.ai_lensers.id or agents.teams.id by assignee_type; NULL: any executor.';
comment on column lenses.workflow_schedules.inputs_rotation is 'Array of inputs taken in turn; NULL or empty: inputs_template is used.';
comment on column lenses.workflow_schedules.last_rotation_index is 'Counts dispatches of the present rotation; the entry used next is this modulo its length.';
comment on column lenses.workflow_schedules.pre_dispatch_condition is 'A filter of automation.fn_eval_filter; the slot is skipped where it is false.';
comment on column lenses.workflow_schedules.trigger_id is 'Id of the workflow definition''s trigger that registered this schedule; NULL: made by hand.';
comment on column lenses.workflow_schedules.next_run_at is 'The next slot (UTC instant); stays to be seen while paused; NULL once no slot is left. Written explicitly it is kept and due_at follows.';
comment on column lenses.workflow_schedules.due_at is 'When the dispatcher looks at the schedule next: slot plus jitter, or a retry; NULL while paused. lenses.schedule_due indexes it.';
comment on column lenses.workflow_schedules.last_run_id is 'The newest dispatched run; no foreign key, so that history can be purged.';
comment on column lenses.workflow_schedules.last_dispatch_status is 'Outcome of the newest slot handled.';
comment on column lenses.workflow_schedules.cron_spec is 'cron_expr, parsed.';
comment on column lenses.workflow_schedules.max_in_flight is 'Limit of runs in flight that queue_policy means; NULL: none.';
comment on column lenses.workflow_schedules.on_overlap is 'queue_policy.onOverlap or what follows from the policy; NULL: dispatch_settings.default_on_overlap.';
comment on column lenses.workflow_schedules.on_missed is 'queue_policy.onMissed; NULL: dispatch_settings.default_on_missed.';
comment on column lenses.workflow_schedules.is_sequential is 'One slot a pass: a condition, a limit or an agent''s budget must see the slot before.';
comment on column lenses.workflow_schedules.dispatch_seq is 'Counts the dispatcher''s own writes, which the table''s trigger lets pass.';
comment on column lenses.workflow_schedules.failure_count is 'Failures in a row of the slot at next_run_at; the fifth uses it up.';
comment on column lenses.workflow_schedules.is_deferred is 'The slot at next_run_at waits until a run ends (onOverlap queue).';
comment on column lenses.workflow_schedules.tick_id is 'The newest tick that handled slots here; with tick_slots it holds max_catchup_per_tick.';
comment on column lenses.workflow_schedules.seen_until is 'Newest slot that a tick has seen while an older one waits; what is seen never becomes late.';
comment on column lenses.workflow_schedules.missed_before is 'Set by a resume: slots due before it are late, missed_grace aside.';
comment on column lenses.workflow_schedules.missed_override is 'onMissed for the next decision only (resume).';
comment on column lenses.workflow_schedules.missed is 'Late slots that wait to be dispatched (backfill, spread, run_once).';
comment on column lenses.workflow_schedules.dropped is 'Late slots that were dropped while an older slot waits.';
comment on column lenses.workflow_schedules.spread_next_at is 'available_at of the next late slot under spread.';

create table lenses.schedule_due (
  schedule_id uuid not null,
  lenser_id uuid not null,
  due_at timestamptz,
  constraint schedule_due_pkey primary key (schedule_id, lenser_id),
  constraint schedule_due_schedule_id_lenser_id_fkey foreign key (schedule_id, lenser_id)
    references lenses.workflow_schedules (id, lenser_id) on delete cascade
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create index schedule_due_due_at_idx on lenses.schedule_due (due_at) where due_at is not null;

comment on table lenses.schedule_due is 'The due index: one narrow row a schedule, kept equal to workflow_schedules.due_at, so that moving a due time does not rewrite the indexes of the wide row.';
