-- squawk-ignore-file require-concurrent-index-creation
-- Queues by workflow, for claims and deliveries that name theirs.
create index workflow_runs_queue_idx
  on lenses.workflow_runs (workflow_id, priority desc, created_at, scheduled_for, id)
  where status = 'pending' and available_at is null;
create index workflow_runs_queue_available_at_idx on lenses.workflow_runs (workflow_id, available_at)
  where status = 'pending' and available_at is not null;

comment on index lenses.workflow_runs_queue_idx is 'Claims and deliveries of certain workflows: what may start now, in their order.';
comment on index lenses.workflow_runs_queue_available_at_idx is 'Claims and deliveries of certain workflows: what has waited for its time.';

-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_claim_workflow_runs(text, integer, interval);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_claim_workflow_runs(text, integer, interval);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_pick_runs(integer);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_fail_workflow_run(uuid, text, text, text, numeric, integer);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_fail_workflow_run(uuid, text, text, text, numeric, integer);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_fail_attempt(lenses.workflow_runs, text, text, text, timestamptz);
