-- Which part of this change of a run is an attempt to start it without its owner, in words; NULL
-- where none is. For changes by any role but lf_sql_engine. For every role, the guard itself also
-- requires an approved team run before a run becomes pending or running.
create or replace function lenses.fn_run_bypass(
  p_old lenses.workflow_runs,
  p_new lenses.workflow_runs
)
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select case
  when not p_old.needs_approval
    or p_old.status in ('completed', 'failed', 'cancelled', 'timed_out') then null
  when p_new.needs_approval is distinct from true then 'update of needs_approval'
  when lenses.fn_is_changed(p_new.policies, p_old.policies) then 'update of policies'
  when p_new.approval_expires_at is distinct from p_old.approval_expires_at
    then 'update of approval_expires_at'
  when p_old.status <> p_new.status and p_new.status not in ('pending_approval', 'cancelled')
    and (p_new.context_inputs, p_new.workflow_version, p_new.global_model_id)
      is distinct from (p_old.context_inputs, p_old.workflow_version, p_old.global_model_id)
    then format('update to %s with other inputs or version', left(p_new.status, 60))
  when p_old.status <> 'pending_approval' then null
  when p_new.status in ('running', 'completed', 'failed')
    or (p_new.status = 'timed_out' and not coalesce(p_old.approval_expires_at <= now(), false))
    then format('update from pending_approval to %s', p_new.status)
  when p_new.status = 'pending_approval'
    and (p_new.attempt, p_new.worker_id, p_new.lease_expires_at, p_new.started_at,
      p_new.completed_at)
    is distinct from (p_old.attempt, p_old.worker_id, p_old.lease_expires_at, p_old.started_at,
      p_old.completed_at)
    then 'update of a waiting run''s attempt'
end
$$;
