-- Whether a schedule with this approval policy and assignment requires an approval or has a gate.
create or replace function lenses.fn_demands_approval(p_policy jsonb, p_assignment_id uuid)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from (
      select p_policy as policy
      union all
      select a.approval_policy from agents.workflow_assignments as a where a.id = p_assignment_id
    ) as d
    where coalesce((d.policy ->> 'requiresApproval')::boolean, true)
      or coalesce(d.policy -> 'gates', '[]') <> '[]'
  )
$$;
