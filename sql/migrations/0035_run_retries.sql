-- squawk-ignore-file require-concurrent-index-creation
-- What a retried run had spent before, by day: budgets hold what it spends from then on against the day
-- of the retry. A row is of no use after two days and goes with a later retry of the same tenant.
create table lenses.run_retries (
  run_id uuid not null,
  attempt integer not null,
  lenser_id uuid not null,
  ai_lenser_id uuid,
  spent_credits numeric(18, 4) not null,
  retried_at timestamptz not null,
  constraint run_retries_pkey primary key (run_id, attempt, retried_at)
);
create index run_retries_ai_lenser_id_retried_at_idx
  on lenses.run_retries (ai_lenser_id, retried_at);
create index run_retries_lenser_id_retried_at_idx on lenses.run_retries (lenser_id, retried_at);

comment on table lenses.run_retries is 'Retries of runs in the last two days, for the budgets of agents; agents.action_logs (run_retried) keeps who retried what.';
comment on column lenses.run_retries.attempt is 'The run''s attempts when it was retried.';
comment on column lenses.run_retries.spent_credits is 'What the run had spent when it was retried.';

-- Lists of runs by how they ended, and of those that no tick made, newest first.
create index workflow_runs_over_idx on lenses.workflow_runs (lenser_id, status, created_at)
  where status in ('completed', 'failed', 'cancelled', 'timed_out');
create index workflow_runs_by_hand_idx
  on lenses.workflow_runs (lenser_id, trigger_mode, created_at)
  where trigger_mode <> 'schedule';

comment on index lenses.run_retries_ai_lenser_id_retried_at_idx is 'What retried runs of an agent had spent (fn_budgets).';
comment on index lenses.run_retries_lenser_id_retried_at_idx is 'Old retries of a tenant, deleted by its next one (fn_retry_workflow_run).';
