-- squawk-ignore-file require-concurrent-index-creation, require-concurrent-index-deletion
-- What runs of a schedule with a limit is counted at each claim: not through all that waits.
-- An upgrade is one transaction, and what is in flight is few.
drop index lenses.workflow_runs_in_flight_idx;
create index workflow_runs_in_flight_idx on lenses.workflow_runs (schedule_id, status)
  where status in ('pending_approval', 'pending', 'running') and schedule_id is not null;
