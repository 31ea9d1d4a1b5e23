-- squawk-ignore-file renaming-table, renaming-object, ban-alter-identity
-- squawk-ignore-file constraint-missing-not-valid
-- Events and logs become tables partitioned by day. The table of before becomes the default
-- partition: by its name alone, so that no row is read or written, however many there are. It is
-- always there and takes what no day's partition takes, so that no insert can fail for want of one.
-- Days are only the cheap way out: lenses.fn_make_partitions makes them ahead,
-- lenses.fn_drop_partition drops them.
--
-- A key of a partitioned table would have to contain occurred_at, and no index of before has it in
-- front: so each partition has keys of its own. Of workflow_run_events that is (run_id, seq). Across
-- partitions nothing weakens: seq is last_event_seq of the run's own row, counted up under that
-- row's lock by every function that writes an event, and no role but the owners of these functions
-- may insert one. lenses.fn_invariant_violations counts after.
--
-- Other indexes too are each partition's own, after those of the default partition: where the table
-- is an extension's, one of the table's would be made by the restore of a dump, and then be there
-- when the dump's own is.
alter sequence lenses.workflow_run_events_id_seq rename to workflow_run_events_default_id_seq;
alter table lenses.workflow_run_events rename to workflow_run_events_default;
alter table lenses.workflow_run_events_default
  rename constraint workflow_run_events_pkey to workflow_run_events_default_pkey;
alter table lenses.workflow_run_events_default
  rename constraint workflow_run_events_run_id_seq_key to workflow_run_events_default_run_id_seq_key;
alter index lenses.workflow_run_events_lenser_id_occurred_at_idx
  rename to workflow_run_events_default_lenser_id_occurred_at_idx;
create table lenses.workflow_run_events (
  id bigint not null generated always as identity,
  lenser_id uuid not null,
  run_id uuid not null,
  seq integer not null,
  event_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now()
) partition by range (occurred_at);
select pg_catalog.setval('lenses.workflow_run_events_id_seq', s.last_value, s.is_called)
from lenses.workflow_run_events_default_id_seq as s;
alter table lenses.workflow_run_events_default alter column id drop identity;
drop trigger if exists workflow_run_events_refuse_update on lenses.workflow_run_events_default;
drop trigger if exists workflow_run_events_refuse_delete on lenses.workflow_run_events_default;
drop trigger if exists workflow_run_events_refuse_truncate on lenses.workflow_run_events_default;
drop policy if exists workflow_run_events_authenticated_select
  on lenses.workflow_run_events_default;
drop policy if exists workflow_run_events_owner_all on lenses.workflow_run_events_default;
drop policy if exists workflow_run_events_engine_all on lenses.workflow_run_events_default;
drop policy if exists workflow_run_events_service_role_select
  on lenses.workflow_run_events_default;
alter table lenses.workflow_run_events
  attach partition lenses.workflow_run_events_default default;
comment on table lenses.workflow_run_events is 'Append-only: each transition of a run is one event, numbered within its run. Partitioned by day. No foreign key: events outlive what they tell of.';
comment on table lenses.workflow_run_events_default is 'Events of no day that has a partition: from before the first one, dated back or ahead, and of runs that stay when their day goes.';

alter sequence agents.agent_run_events_id_seq rename to agent_run_events_default_id_seq;
alter table agents.agent_run_events rename to agent_run_events_default;
alter table agents.agent_run_events_default
  rename constraint agent_run_events_pkey to agent_run_events_default_pkey;
alter index agents.agent_run_events_team_run_id_idx
  rename to agent_run_events_default_team_run_id_idx;
alter index agents.agent_run_events_run_id_idx rename to agent_run_events_default_run_id_idx;
alter index agents.agent_run_events_lenser_id_occurred_at_idx
  rename to agent_run_events_default_lenser_id_occurred_at_idx;
create table agents.agent_run_events (
  id bigint not null generated always as identity,
  lenser_id uuid not null,
  team_run_id uuid,
  run_id uuid,
  event_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now(),
  constraint agent_run_events_event_type_check check (char_length(event_type) between 1 and 200)
) partition by range (occurred_at);
select pg_catalog.setval('agents.agent_run_events_id_seq', s.last_value, s.is_called)
from agents.agent_run_events_default_id_seq as s;
alter table agents.agent_run_events_default alter column id drop identity;
drop trigger if exists agent_run_events_refuse_update on agents.agent_run_events_default;
drop trigger if exists agent_run_events_refuse_delete on agents.agent_run_events_default;
drop trigger if exists agent_run_events_refuse_truncate on agents.agent_run_events_default;
drop policy if exists agent_run_events_authenticated_select on agents.agent_run_events_default;
drop policy if exists agent_run_events_owner_all on agents.agent_run_events_default;
drop policy if exists agent_run_events_engine_all on agents.agent_run_events_default;
drop policy if exists agent_run_events_service_role_select on agents.agent_run_events_default;
alter table agents.agent_run_events attach partition agents.agent_run_events_default default;
comment on table agents.agent_run_events is 'Append-only: what happened to a team run, bypass attempts included. Partitioned by day.';
comment on table agents.agent_run_events_default is 'Events of no day that has a partition.';

alter sequence agents.action_logs_id_seq rename to action_logs_default_id_seq;
alter table agents.action_logs rename to action_logs_default;
alter table agents.action_logs_default
  rename constraint action_logs_pkey to action_logs_default_pkey;
alter index agents.action_logs_schedule_id_occurred_at_idx
  rename to action_logs_default_schedule_id_occurred_at_idx;
alter index agents.action_logs_lenser_id_occurred_at_idx
  rename to action_logs_default_lenser_id_occurred_at_idx;
create table agents.action_logs (
  id bigint not null generated always as identity,
  lenser_id uuid not null,
  schedule_id uuid,
  action_type text not null,
  payload jsonb not null default '{}',
  occurred_at timestamptz not null default now(),
  constraint action_logs_action_type_check check (char_length(action_type) between 1 and 200)
) partition by range (occurred_at);
select pg_catalog.setval('agents.action_logs_id_seq', s.last_value, s.is_called)
from agents.action_logs_default_id_seq as s;
alter table agents.action_logs_default alter column id drop identity;
drop trigger if exists action_logs_refuse_update on agents.action_logs_default;
drop trigger if exists action_logs_refuse_delete on agents.action_logs_default;
drop trigger if exists action_logs_refuse_truncate on agents.action_logs_default;
drop policy if exists action_logs_authenticated_select on agents.action_logs_default;
drop policy if exists action_logs_owner_all on agents.action_logs_default;
drop policy if exists action_logs_engine_all on agents.action_logs_default;
drop policy if exists action_logs_service_role_select on agents.action_logs_default;
alter table agents.action_logs attach partition agents.action_logs_default default;
comment on table agents.action_logs is 'Append-only audit: dispatches, skips with their reasons, failures, decisions, bypass attempts. Partitioned by day.';
comment on table agents.action_logs_default is 'Rows of no day that has a partition.';

alter table lenses.dispatch_settings
  add column events_retention interval,
  add column logs_retention interval,
  add constraint dispatch_settings_events_retention_check
    check (events_retention >= interval '31 days'),
  add constraint dispatch_settings_logs_retention_check
    check (logs_retention >= interval '31 days');
comment on column lenses.dispatch_settings.retention is
  'How long runs stay, and events and logs unless theirs is set; never less than 31 days, since a '
  'backfill reaches 30.';
comment on column lenses.dispatch_settings.events_retention is
  'How long the events of runs that are over stay, by whole days; none: as long as retention. At '
  'least 31 days.';
comment on column lenses.dispatch_settings.logs_retention is
  'How long the audit log stays, by whole days; none: as long as retention. At least 31 days.';

-- It is given the time in which the run's events lie.
drop function if exists lenses.fn_run_attempts(uuid);
