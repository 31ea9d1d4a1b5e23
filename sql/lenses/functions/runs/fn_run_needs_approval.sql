-- owner: lf_sql_engine
-- Does a run with these policies wait for its owner? Its own policy says so, or one of its gates is
-- among the actions of the workflow's version, or so it is for its schedule, or for an assignment's
-- gates (the schedule's; without a schedule any of the workflow's). A row that comes by hand may so
-- add a need and never take one away.
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
select
  coalesce((p_approval_policy ->> 'requiresApproval')::boolean, true)
  or coalesce(p_approval_policy -> 'gates' ?| v.node_actions, false)
  or coalesce((s.approval_policy ->> 'requiresApproval')::boolean, s.id is not null)
  or coalesce(s.approval_policy -> 'gates' ?| v.node_actions, false)
  or exists (
    select from agents.workflow_assignments as a
    where a.workflow_id = p_workflow_id
      and (p_schedule_id is null or a.id = s.workflow_assignment_id)
      and a.approval_policy -> 'gates' ?| v.node_actions
  )
from (values (p_schedule_id)) as q (schedule_id)
left join lenses.workflow_schedules as s on s.id = q.schedule_id
left join lenses.workflow_versions as v
  on v.workflow_id = p_workflow_id and v.version = p_workflow_version
$$;
