-- owner: lf_sql_engine
-- Counting battles against a limit and inserting the runs that the limit allows must be one step.
-- So a caller that dispatches such schedules locks the rows of the limits first, after the
-- schedules and in the order of the agents. A call by hand waits for them (p_waits), so that two
-- calls cannot both pass; a tick never waits. Returns the schedules whose limits another
-- transaction holds: they must not be dispatched now.
create or replace function lenses.fn_lock_battle_quota(p_schedule_ids uuid[], p_waits boolean)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule_ids uuid[];
  v_agent_ids uuid[];
  v_held uuid[];
begin
  if not exists (select from agents.policies as p where p.max_daily_battles is not null) then
    return '{}';
  end if;
  select array_agg(s.id), array_agg(p.ai_lenser_id) into v_schedule_ids, v_agent_ids
  from lenses.workflow_schedules as s
  inner join lenses.workflows as w on w.id = s.workflow_id and w.kind = 'battle'
  left join agents.workflow_assignments as a on a.id = s.workflow_assignment_id
  cross join lateral (
    select coalesce(s.assignee_id, a.assignee_id) as id
    union all
    select m.ai_lenser_id from agents.team_members as m
    where m.team_id = coalesce(s.assignee_id, a.assignee_id)
  ) as g
  inner join agents.policies as p on p.ai_lenser_id = g.id and p.max_daily_battles is not null
  where s.id = any (p_schedule_ids);

  if v_agent_ids is null then
    return '{}';
  elsif p_waits then
    perform from agents.policies as p where p.ai_lenser_id = any (v_agent_ids)
    order by p.ai_lenser_id for no key update;
    return '{}';
  end if;
  v_held := array(
    select p.ai_lenser_id from agents.policies as p where p.ai_lenser_id = any (v_agent_ids)
    order by p.ai_lenser_id for no key update skip locked);
  return array(
    select distinct u.schedule_id
    from unnest(v_schedule_ids, v_agent_ids) as u (schedule_id, agent_id)
    where u.agent_id <> all (v_held));
end;
$$;
