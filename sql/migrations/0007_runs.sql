-- Runs and their append-only stories.
create table lenses.workflow_runs (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  workflow_id uuid not null,
  workflow_version integer not null,
  schedule_id uuid,
  scheduled_for timestamptz,
  idempotency_key text not null,
  trigger_mode text not null default 'manual',
  triggered_by text,
  status text not null default 'pending',
  priority integer not null default 0,
  available_at timestamptz,
  context_inputs jsonb not null default '{}',
  policies jsonb not null default '{}',
  global_model_id text,
  ai_lenser_id uuid,
  team_id uuid,
  needs_approval boolean not null default false,
  approval_expires_at timestamptz,
  attempt integer not null default 0,
  worker_id text,
  lease_expires_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  spent_credits numeric(18, 4) not null default 0,
  last_event_seq integer not null default 1,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  constraint workflow_runs_pkey primary key (id),
  constraint workflow_runs_id_lenser_id_key unique (id, lenser_id),
  constraint workflow_runs_schedule_id_scheduled_for_key unique (schedule_id, scheduled_for),
  constraint workflow_runs_idempotency_key_key unique (idempotency_key),
  constraint workflow_runs_workflow_id_lenser_id_fkey foreign key (workflow_id, lenser_id)
    references lenses.workflows (id, lenser_id),
  constraint workflow_runs_schedule_id_lenser_id_fkey foreign key (schedule_id, lenser_id)
    references lenses.workflow_schedules (id, lenser_id) on delete set null (schedule_id),
  constraint workflow_runs_ai_lenser_id_lenser_id_fkey foreign key (ai_lenser_id, lenser_id)
    references agents.ai_lensers (id, lenser_id) on delete set null (ai_lenser_id),
  constraint workflow_runs_team_id_lenser_id_fkey foreign key (team_id, lenser_id)
    references agents.teams (id, lenser_id) on delete set null (team_id),
  constraint workflow_runs_trigger_mode_check
    check (trigger_mode in ('schedule', 'manual', 'backfill')),
  constraint workflow_runs_status_check check (status in (
    'pending_approval', 'pending', 'running', 'completed', 'failed', 'cancelled', 'timed_out')),
  constraint workflow_runs_attempt_check check (attempt >= 0),
  constraint workflow_runs_lease_check
    check (status <> 'running' or (worker_id is not null and lease_expires_at is not null)),
  constraint workflow_runs_spent_credits_check check (spent_credits >= 0),
  constraint workflow_runs_idempotency_key_check
    check (char_length(idempotency_key) between 1 and 200)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

create index workflow_runs_workflow_id_lenser_id_created_at_idx
  on lenses.workflow_runs (workflow_id, lenser_id, created_at);
create index workflow_runs_schedule_id_lenser_id_created_at_idx
  on lenses.workflow_runs (schedule_id, lenser_id, created_at);
create index workflow_runs_ai_lenser_id_lenser_id_created_at_idx
  on lenses.workflow_runs (ai_lenser_id, lenser_id, created_at) where ai_lenser_id is not null;
create index workflow_runs_team_id_lenser_id_idx
  on lenses.workflow_runs (team_id, lenser_id) where team_id is not null;
create index workflow_runs_orphan_slots_idx on lenses.workflow_runs (lenser_id, scheduled_for)
  where schedule_id is null and scheduled_for is not null;
create index workflow_runs_lenser_id_created_at_idx
  on lenses.workflow_runs (lenser_id, created_at);
create index workflow_runs_claim_idx
  on lenses.workflow_runs (priority desc, created_at, scheduled_for, id) where status = 'pending';
create index workflow_runs_in_flight_idx on lenses.workflow_runs (schedule_id, created_at)
  where status in ('pending_approval', 'pending', 'running') and schedule_id is not null;
create index workflow_runs_lease_expires_at_idx on lenses.workflow_runs (lease_expires_at)
  where status = 'running';
create index workflow_runs_approval_expires_at_idx on lenses.workflow_runs (approval_expires_at)
  where status = 'pending_approval' and approval_expires_at is not null;

comment on table lenses.workflow_runs is 'Runs for executors to claim. Slot runs are unique by (schedule_id, scheduled_for); their id is derived from the slot.';
comment on column lenses.workflow_runs.scheduled_for is 'The slot; NULL for a run started by hand.';
comment on column lenses.workflow_runs.idempotency_key is 'Hex sha256 of schedule_id '':'' epoch seconds of the slot; the id is its first 16 bytes. Runs by hand: manual: and their id.';
comment on column lenses.workflow_runs.trigger_mode is 'schedule: all that a tick dispatches; manual; backfill.';
comment on column lenses.workflow_runs.triggered_by is 'The schedule''s id or the caller''s lenser id; outlives the schedule.';
comment on column lenses.workflow_runs.available_at is 'Not to be claimed before; NULL: at once.';
comment on column lenses.workflow_runs.policies is 'approval_policy, retry_policy, failure_policy, queue_policy, limits, as they were at dispatch.';
comment on column lenses.workflow_runs.needs_approval is 'The run cannot become pending or running without the owner''s approved decision.';
comment on column lenses.workflow_runs.attempt is 'Counts claims; 0 until the first.';
comment on column lenses.workflow_runs.lease_expires_at is 'A worker that has not finished or beaten by then has lost the run.';
comment on column lenses.workflow_runs.last_event_seq is 'seq of the newest row of workflow_run_events.';
comment on column lenses.workflow_runs.metadata is 'metadata.result is the run''s result; metadata.missed marks a late slot.';

create table lenses.workflow_run_events (
  id bigint generated always as identity,
  lenser_id uuid not null,
  run_id uuid not null,
  seq integer not null,
  event_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now(),
  constraint workflow_run_events_pkey primary key (id),
  constraint workflow_run_events_run_id_seq_key unique (run_id, seq),
  constraint workflow_run_events_event_type_check check (char_length(event_type) between 1 and 200)
);

create index workflow_run_events_lenser_id_occurred_at_idx
  on lenses.workflow_run_events (lenser_id, occurred_at);
comment on table lenses.workflow_run_events is 'Append-only: each transition of a run is one event, numbered within its run. No foreign key: events outlive what they tell of.';

create table agents.team_runs (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  workflow_run_id uuid not null,
  team_id uuid,
  ai_lenser_id uuid,
  approval_status text not null default 'not_required',
  decided_by uuid,
  decided_at timestamptz,
  note text,
  created_at timestamptz not null default now(),
  constraint team_runs_pkey primary key (id),
  constraint team_runs_workflow_run_id_lenser_id_key unique (workflow_run_id, lenser_id),
  constraint team_runs_workflow_run_id_lenser_id_fkey foreign key (workflow_run_id, lenser_id)
    references lenses.workflow_runs (id, lenser_id) on delete cascade,
  constraint team_runs_team_id_lenser_id_fkey foreign key (team_id, lenser_id)
    references agents.teams (id, lenser_id) on delete set null (team_id),
  constraint team_runs_ai_lenser_id_lenser_id_fkey foreign key (ai_lenser_id, lenser_id)
    references agents.ai_lensers (id, lenser_id) on delete set null (ai_lenser_id),
  constraint team_runs_approval_status_check check (approval_status in (
    'pending', 'approved', 'rejected', 'not_required', 'timed_out')),
  constraint team_runs_note_check check (char_length(note) <= 2000)
);

create index team_runs_lenser_id_idx on agents.team_runs (lenser_id);
create index team_runs_team_id_lenser_id_idx on agents.team_runs (team_id, lenser_id)
  where team_id is not null;
create index team_runs_ai_lenser_id_lenser_id_idx on agents.team_runs (ai_lenser_id, lenser_id)
  where ai_lenser_id is not null;
create index team_runs_pending_idx on agents.team_runs (lenser_id, created_at)
  where approval_status = 'pending';
comment on table agents.team_runs is 'The approval of a run, and the team''s part in it: one row a run that waits for approval or goes to a team.';
comment on column agents.team_runs.decided_by is 'The lenser who decided.';

create table agents.agent_run_events (
  id bigint generated always as identity,
  lenser_id uuid not null,
  team_run_id uuid,
  run_id uuid,
  event_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now(),
  constraint agent_run_events_pkey primary key (id),
  constraint agent_run_events_event_type_check check (char_length(event_type) between 1 and 200)
);

create index agent_run_events_team_run_id_idx on agents.agent_run_events (team_run_id);
create index agent_run_events_run_id_idx on agents.agent_run_events (run_id);
create index agent_run_events_lenser_id_occurred_at_idx
  on agents.agent_run_events (lenser_id, occurred_at);
comment on table agents.agent_run_events is 'Append-only: what happened to a team run, bypass attempts included.';

create table agents.action_logs (
  id bigint generated always as identity,
  lenser_id uuid not null,
  schedule_id uuid,
  action_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now(),
  constraint action_logs_pkey primary key (id),
  constraint action_logs_action_type_check check (char_length(action_type) between 1 and 200)
);

create index action_logs_schedule_id_occurred_at_idx
  on agents.action_logs (schedule_id, occurred_at);
create index action_logs_lenser_id_occurred_at_idx on agents.action_logs (lenser_id, occurred_at);
comment on table agents.action_logs is 'Append-only audit: dispatches, skips with their reasons, failures, decisions, bypass attempts.';

create table agents.approval_attempts (
  run_id uuid not null,
  minute timestamptz not null,
  lenser_id uuid not null,
  attempts bigint not null default 1,
  last_role text not null,
  last_attempt text not null,
  constraint approval_attempts_pkey primary key (run_id, minute)
);

create index approval_attempts_lenser_id_idx on agents.approval_attempts (lenser_id);
comment on table agents.approval_attempts is 'Counts bypass attempts a run and minute; the first ten of a minute are rows of the audit as well.';
