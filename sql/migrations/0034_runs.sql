-- squawk-ignore-file require-concurrent-index-creation, disallowed-unique-constraint, ban-drop-constraint
-- What a unique key says twice is said once. The key of a slot's run and that of a run by hand follow from
-- the run's id, so that the primary key keeps them apart already; only a key that somebody chose himself
-- needs an index of its own. An upgrade is one transaction; it reads the runs once, and builds no more than
-- the few that have such a key.
alter table lenses.workflow_runs drop constraint workflow_runs_idempotency_key_key;
create unique index workflow_runs_idempotency_key_idx on lenses.workflow_runs (idempotency_key)
  where left(idempotency_key, 32) <> replace(id::text, '-', '')
    and idempotency_key <> 'manual:' || id::text;

comment on column lenses.workflow_runs.idempotency_key is 'Unique. Of a slot: 64 hex digits, of which the id is the first 32 (whatever id is given); of a run by hand: manual: and the id; or whatever the one who inserts the run chose.';

-- Which query of the product each index is for. Each costs three entries a run: status stands in partial
-- indexes, so that neither a claim nor a completion is a HOT update.
comment on index lenses.workflow_runs_idempotency_key_idx is 'Keeps keys that were chosen by hand unique: all others follow from the id.';
comment on constraint workflow_runs_id_lenser_id_key on lenses.workflow_runs is 'Target of agents.team_runs'' foreign key, which carries the tenant.';
comment on constraint workflow_runs_schedule_id_scheduled_for_key on lenses.workflow_runs is 'Exactly once: a slot has one run. Guard 6, the ledger (schedule_slots), the slots of recompute and backfill.';
comment on index lenses.workflow_runs_schedule_id_lenser_id_created_at_idx is 'Run history of a schedule, newest first; the runs of a schedule that is deleted.';
comment on index lenses.workflow_runs_lenser_id_created_at_idx is 'Runs and feed of a tenant, newest first; the oldest of each tenant, for the purge.';
comment on index lenses.workflow_runs_newest_idx is 'Newest run of a workflow, for conditions; runs of a workflow, newest first.';
comment on index lenses.workflow_runs_ai_lenser_id_lenser_id_created_at_idx is 'What an agent has spent and fought today (budgets); the runs of an agent that is deleted.';
comment on index lenses.workflow_runs_team_id_lenser_id_idx is 'The runs of a team that is deleted.';
comment on index lenses.workflow_runs_in_flight_idx is 'How many runs of a schedule are in flight: overlap, limits of claims.';
comment on index lenses.workflow_runs_ready_idx is 'Claims: what may start now, in their order.';
comment on index lenses.workflow_runs_available_at_idx is 'Claims: what has waited for its time.';
comment on index lenses.workflow_runs_lease_expires_at_idx is 'Leases that have run out (reaping), and when the next does.';
comment on index lenses.workflow_runs_approval_expires_at_idx is 'Approvals that have run out (reaping), and when the next does.';
comment on index lenses.workflow_runs_lenser_id_idx is 'How many runs of a tenant wait: quotas.';
comment on index lenses.workflow_runs_orphan_slots_idx is 'Slots of schedules that are gone, for the ledger of their tenant.';
