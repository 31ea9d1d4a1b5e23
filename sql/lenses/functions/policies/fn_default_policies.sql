-- The default of each policy. It is constant, so that a policy that was left out can be told from
-- one that was given.
create or replace function lenses.fn_default_policies()
returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select '{
    "approval_policy": {"requiresApproval": true},
    "retry_policy": {"maxRetries": 1},
    "failure_policy": {"mode": "isolate"},
    "queue_policy": {"mode": "parallel"}
  }'::jsonb
$$;
