-- Why a slot waits: the ledger and the explanation knew overlap alone.
alter table lenses.workflow_schedules add column wait_reason text
  constraint workflow_schedules_wait_reason_check check (
    wait_reason in ('overlap_in_flight', 'pending_quota', 'limit_in_use'));

comment on column lenses.workflow_schedules.wait_reason is 'Why the slot at next_run_at waits, where is_deferred: overlap_in_flight, pending_quota, or limit_in_use (another transaction counts against the same limit). NULL: it waits since before this was kept.';
comment on column lenses.workflow_schedules.is_deferred is 'The slot at next_run_at waits; wait_reason says for what.';
