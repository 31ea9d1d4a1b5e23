-- owner: lf_sql_engine
-- Does a run with these policies wait for its owner? Its own policy says so, or that of its
-- schedule, or that of the schedule's assignment: requiresApproval, or a gate that is among the
-- actions of the workflow's version. A run without a schedule, or by a schedule or an assignment
-- that is another workflow's by now, answers to all schedules and assignments of its workflow. A
-- row that comes by hand may so add a need and never take one away.
create or replace function lenses.fn_run_needs_approval(
  p_workflow_id uuid,
  p_workflow_version integer,
  p_schedule_id uuid,
  p_approval_policy jsonb
)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
with own as (
  select
    s.workflow_assignment_id,
    s.workflow_id is distinct from p_workflow_id
    or a.workflow_id is distinct from p_workflow_id and s.workflow_assignment_id is not null
      as is_by_none
  from (values (p_schedule_id)) as q (schedule_id)
  left join lenses.workflow_schedules as s on s.id = q.schedule_id
  left join agents.workflow_assignments as a on a.id = s.workflow_assignment_id
),

demands as (
  select p_approval_policy as policy
  union all
  select s.approval_policy from lenses.workflow_schedules as s where s.id = p_schedule_id
  union all
  select a.approval_policy
  from own as o inner join agents.workflow_assignments as a on a.id = o.workflow_assignment_id
  union all
  select s.approval_policy
  from own as o inner join lenses.workflow_schedules as s on o.is_by_none
  where s.workflow_id = p_workflow_id
  union all
  select a.approval_policy
  from own as o inner join agents.workflow_assignments as a on o.is_by_none
  where a.workflow_id = p_workflow_id
)

select bool_or(
  coalesce((d.policy ->> 'requiresApproval')::boolean, true)
  or coalesce(d.policy -> 'gates' ?| v.node_actions, false))
from demands as d
left join lenses.workflow_versions as v
  on v.workflow_id = p_workflow_id and v.version = p_workflow_version
$$;
