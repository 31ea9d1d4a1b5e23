-- owner: lf_sql_engine
-- Does the tenant have this agent or team? p_assignee_type NULL: either.
create or replace function lenses.fn_has_assignee(
  p_lenser_id uuid,
  p_assignee_type text,
  p_assignee_id uuid
)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select exists (
  select from agents.ai_lensers as g
  where g.id = p_assignee_id and g.lenser_id = p_lenser_id
    and coalesce(p_assignee_type, 'agent') = 'agent'
) or exists (
  select from agents.teams as t
  where t.id = p_assignee_id and t.lenser_id = p_lenser_id
    and coalesce(p_assignee_type, 'team') = 'team'
)
$$;
