-- The dispatcher's settings, its story, and the types that its steps hand on.
create table lenses.dispatch_settings (
  id boolean not null default true,
  is_frozen boolean not null default false,
  frozen_reason text,
  frozen_at timestamptz,
  batch_size integer not null default 1000,
  missed_grace interval not null default '2 minutes',
  max_catchup_per_tick integer not null default 100,
  default_on_overlap text not null default 'skip',
  default_on_missed text not null default 'skip',
  default_jitter_ms integer not null default 0,
  retention interval not null default '90 days',
  ticks_retention interval not null default '14 days',
  max_schedules_per_lenser integer not null default 100000,
  updated_at timestamptz not null default now(),
  constraint dispatch_settings_pkey primary key (id),
  constraint dispatch_settings_id_check check (id),
  constraint dispatch_settings_batch_size_check check (batch_size between 1 and 10000),
  constraint dispatch_settings_missed_grace_check
    check (missed_grace between interval '0' and interval '1 day'),
  constraint dispatch_settings_max_catchup_per_tick_check
    check (max_catchup_per_tick between 1 and 10000),
  constraint dispatch_settings_default_on_overlap_check
    check (default_on_overlap in ('skip', 'queue', 'replace')),
  constraint dispatch_settings_default_on_missed_check
    check (default_on_missed in ('skip', 'run_once', 'backfill', 'spread')),
  constraint dispatch_settings_default_jitter_ms_check
    check (default_jitter_ms between 0 and 86400000),
  constraint dispatch_settings_retention_check check (retention >= interval '31 days'),
  constraint dispatch_settings_ticks_retention_check check (ticks_retention >= interval '1 hour'),
  constraint dispatch_settings_max_schedules_per_lenser_check check (max_schedules_per_lenser >= 1)
);

comment on table lenses.dispatch_settings is 'One row. Changed by lenses.fn_set_dispatch_settings.';
comment on column lenses.dispatch_settings.batch_size is 'Schedules a batch; each batch is one transaction of the driver.';
comment on column lenses.dispatch_settings.missed_grace is 'A slot is late if its due time is more than this before the first tick that sees it.';
comment on column lenses.dispatch_settings.max_catchup_per_tick is 'Slots of one schedule that one tick handles.';
comment on column lenses.dispatch_settings.default_jitter_ms is 'jitter_ms of a schedule that is saved without.';
comment on column lenses.dispatch_settings.retention is 'How long runs, events and logs stay; never less than 31 days, since a backfill reaches 30.';
comment on column lenses.dispatch_settings.ticks_retention is 'How long dispatch_ticks and the job''s rows in cron.job_run_details stay.';

create table lenses.dispatch_ticks (
  id bigint generated always as identity,
  driver text not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  due integer not null default 0,
  dispatched integer not null default 0,
  skipped jsonb not null default '{}',
  deferred integer not null default 0,
  failed integer not null default 0,
  lag jsonb not null default '{}',
  max_catchup integer,
  note text,
  constraint dispatch_ticks_pkey primary key (id)
);

create index dispatch_ticks_started_at_idx on lenses.dispatch_ticks (started_at);
comment on table lenses.dispatch_ticks is 'One row a tick: who drove it and what it did.';
comment on column lenses.dispatch_ticks.due is 'Schedules handled.';
comment on column lenses.dispatch_ticks.skipped is 'Skipped slots by reason.';
comment on column lenses.dispatch_ticks.lag is 'Histogram of run minus due time, ms: {"buckets":{upper bound: count},"count","sum"}; a bucket counts what is above the one before.';
comment on column lenses.dispatch_ticks.max_catchup is 'Slots a schedule that this tick may handle, where its driver outranks max_catchup_per_tick.';
comment on column lenses.dispatch_ticks.note is 'Why the tick ended early, if it did.';

create table lenses.worker_heartbeats (
  worker_id text not null,
  hostname text not null,
  pid integer not null,
  is_leader boolean not null default false,
  version text not null default '',
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now(),
  constraint worker_heartbeats_pkey primary key (worker_id)
);

comment on table lenses.worker_heartbeats is 'One row a process lf-sql worker; the id is new with each start.';

create type lenses.slot_candidate as (
  schedule_id uuid,
  slot timestamptz,
  due_at timestamptz,
  is_missed boolean,
  available_at timestamptz
);

comment on type lenses.slot_candidate is 'A slot that is to be judged: what lenses.fn_evaluate_slots takes.';

create type lenses.slot_decision as (
  schedule_id uuid,
  slot timestamptz,
  due_at timestamptz,
  is_missed boolean,
  available_at timestamptz,
  decision text,
  reason text,
  status text,
  detail text,
  inputs jsonb,
  rotation_index integer,
  run_id uuid,
  idempotency_key text,
  workflow_version integer,
  needs_approval boolean,
  ai_lenser_id uuid,
  team_id uuid,
  limits jsonb
);

comment on type lenses.slot_decision is 'A judged slot. decision: dispatch, skip, defer, or wait (left for the next pass of the same tick).';

create type lenses.late_stretch as (
  first_slot timestamptz,
  last_slot timestamptz,
  slot_count bigint
);

comment on type lenses.late_stretch is 'Late slots in a row, both ends included.';

create type lenses.slot_plan as (
  schedule_id uuid,
  slots lenses.slot_candidate[],
  next_slot timestamptz,
  next_due_at timestamptz,
  seen_until timestamptz,
  missed tstzmultirange,
  dropped tstzmultirange,
  dropped_count bigint,
  dropped_first timestamptz,
  dropped_last timestamptz,
  spread_next_at timestamptz,
  spread_step interval
);

comment on type lenses.slot_plan is 'What lenses.fn_plan_slots finds due for one schedule, with the backlog''s state afterwards.';

insert into lenses.dispatch_settings default values;
