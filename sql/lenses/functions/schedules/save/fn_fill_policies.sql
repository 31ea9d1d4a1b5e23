-- A schedule's row with the defaults of the policies that were left out (NULL), and with the names
-- of those that were spelled out as their default is. p_old is NULL for an INSERT.
create or replace function lenses.fn_fill_policies(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns lenses.workflow_schedules
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_defaults constant jsonb := lenses.fn_default_policies();
begin
  p_new.explicit_defaults := lenses.fn_explicit_defaults(
    jsonb_build_object(
      'approval_policy', p_new.approval_policy, 'retry_policy', p_new.retry_policy,
      'failure_policy', p_new.failure_policy, 'queue_policy', p_new.queue_policy),
    p_new.explicit_defaults,
    jsonb_build_object(
      'approval_policy', p_old.approval_policy, 'retry_policy', p_old.retry_policy,
      'failure_policy', p_old.failure_policy, 'queue_policy', p_old.queue_policy),
    p_old.explicit_defaults);
  p_new.approval_policy := coalesce(p_new.approval_policy, c_defaults -> 'approval_policy');
  p_new.retry_policy := coalesce(p_new.retry_policy, c_defaults -> 'retry_policy');
  p_new.failure_policy := coalesce(p_new.failure_policy, c_defaults -> 'failure_policy');
  p_new.queue_policy := coalesce(p_new.queue_policy, c_defaults -> 'queue_policy');
  return p_new;
end;
$$;
