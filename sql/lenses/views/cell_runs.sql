-- For the directory of cells: runs in flight. No payloads.
create or replace view lenses.cell_runs
with (security_invoker = true) as
select
  r.lenser_id,
  r.id as run_id,
  r.workflow_id,
  r.schedule_id,
  r.scheduled_for,
  r.status,
  r.attempt,
  r.worker_id,
  r.lease_expires_at,
  r.created_at
from lenses.workflow_runs as r
where r.status in ('pending_approval', 'pending', 'running');

comment on view lenses.cell_runs is
  'For the directory of cells: runs that wait or are running in this cell, without their inputs.';
