-- squawk-ignore-file require-concurrent-index-creation, require-concurrent-index-deletion, ban-drop-not-null
-- What conditions count, what quotas hold, and the two queues of a claim. An upgrade is one
-- transaction; the counts are filled by a seed, once the triggers that go on with them are there.
create table lenses.run_counts (
  lenser_id uuid not null,
  workflow_id uuid not null,
  grain smallint not null default 0,
  instant timestamptz not null,
  id bigint not null generated always as identity,
  total integer not null default 0,
  succeeded integer not null default 0,
  failed integer not null default 0,
  constraint run_counts_pkey primary key (workflow_id, grain, instant, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05
);

comment on table lenses.run_counts is 'How many runs of a workflow were created when, and how they ended: what conditions see of the last 24 hours. Sums of all rows of an instant, or a stretch, are what lenses.workflow_runs holds; a change is a new row, never an update, so that runs of one workflow wait for each other nowhere. What is older than two days goes.';
comment on column lenses.run_counts.grain is '0: a change, for the runs created at instant; 1: changes of one instant, folded; 2, 3, 4: the same once more, folded by the 5 seconds, the minute, the hour that begin at instant.';
comment on column lenses.run_counts.instant is 'created_at of the runs; from grain 2 on the beginning of the stretch in which it lies.';
comment on column lenses.run_counts.failed is 'Runs that are failed or timed_out.';

create table lenses.lenser_usage (
  lenser_id uuid not null,
  schedules bigint not null default 0,
  gateway_crons bigint not null default 0,
  template_bytes bigint not null default 0,
  constraint lenser_usage_pkey primary key (lenser_id),
  constraint lenser_usage_lenser_id_fkey foreign key (lenser_id)
    references lensers.profiles (id) on delete cascade
) with (fillfactor = 70);

comment on table lenses.lenser_usage is 'What each tenant uses of its quotas (lenses.dispatch_settings), kept by triggers. Whoever takes more locks the row, so that two cannot pass a limit together.';
comment on column lenses.lenser_usage.template_bytes is 'Bytes, as text, of inputs_template, inputs_rotation and pre_dispatch_condition of the tenant''s schedules and of the payloads of its gateway crons.';

-- The newest run of a workflow, however many were created at one instant.
create index workflow_runs_newest_idx on lenses.workflow_runs (
  workflow_id, lenser_id, created_at desc, scheduled_for desc nulls last, id desc);
drop index lenses.workflow_runs_workflow_id_lenser_id_created_at_idx;

-- What may start now, in the order of claims; and what waits for its time.
create index workflow_runs_ready_idx
  on lenses.workflow_runs (priority desc, created_at, scheduled_for, id)
  where status = 'pending' and available_at is null;
create index workflow_runs_available_at_idx on lenses.workflow_runs (available_at)
  where status = 'pending' and available_at is not null;
drop index lenses.workflow_runs_claim_idx;

-- Waiting runs of a lenser, for the quota.
create index workflow_runs_lenser_id_idx on lenses.workflow_runs (lenser_id)
  where status in ('pending_approval', 'pending');

alter table lenses.dispatch_settings
  alter column max_schedules_per_lenser drop not null,
  add column max_gateway_crons_per_lenser integer
    constraint dispatch_settings_max_gateway_crons_per_lenser_check
      check (max_gateway_crons_per_lenser >= 1),
  add column max_pending_runs_per_lenser integer
    constraint dispatch_settings_max_pending_runs_per_lenser_check
      check (max_pending_runs_per_lenser >= 1),
  add column max_template_bytes_per_lenser bigint
    constraint dispatch_settings_max_template_bytes_per_lenser_check
      check (max_template_bytes_per_lenser >= 1);

comment on column lenses.dispatch_settings.max_schedules_per_lenser is 'Schedules that a lenser may have; NULL: no limit.';
comment on column lenses.dispatch_settings.max_gateway_crons_per_lenser is 'Gateway crons that a lenser may have; NULL: no limit.';
comment on column lenses.dispatch_settings.max_pending_runs_per_lenser is 'Runs of a lenser that may wait (pending_approval, pending); NULL: no limit. Slots beyond it wait too.';
comment on column lenses.dispatch_settings.max_template_bytes_per_lenser is 'Bytes of a lenser''s templates, rotations, conditions and gateway payloads together; NULL: no limit.';

-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_condition_failure(uuid, jsonb, timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_check_schedule_cap(uuid);
