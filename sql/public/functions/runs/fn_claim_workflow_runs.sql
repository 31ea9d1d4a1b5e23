-- For service_role: lenses.fn_claim_workflow_runs, where callers reach only this schema.
create or replace function public.fn_claim_workflow_runs(
  p_worker_id text,
  p_limit integer default 1,
  p_lease interval default '5 minutes',
  p_workflow_ids uuid[] default null
)
returns table (
  id uuid,
  lenser_id uuid,
  workflow_id uuid,
  workflow_version integer,
  schedule_id uuid,
  scheduled_for timestamptz,
  idempotency_key text,
  trigger_mode text,
  triggered_by text,
  status text,
  priority integer,
  available_at timestamptz,
  context_inputs jsonb,
  policies jsonb,
  global_model_id text,
  ai_lenser_id uuid,
  team_id uuid,
  needs_approval boolean,
  approval_expires_at timestamptz,
  attempt integer,
  worker_id text,
  lease_expires_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  spent_credits numeric,
  last_event_seq integer,
  metadata jsonb,
  created_at timestamptz,
  definition jsonb
)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select * from lenses.fn_claim_workflow_runs(p_worker_id, p_limit, p_lease, p_workflow_ids)
$$;

comment on function public.fn_claim_workflow_runs(text, integer, interval, uuid[]) is
  'As lenses.fn_claim_workflow_runs.';
