-- The policies of whoever says nothing. Constant: what is left out is told by it from what is said.
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
