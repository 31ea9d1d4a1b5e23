-- owner: lf_sql_engine
-- Today's budgets (UTC day of p_now) of the assignees that have any: an agent's own; a team is over
-- when a member is. Reached is exceeded. Of an older run that was retried today counts what it
-- spent since. battles_left NULL: no limit. Agents without a policy have no row.
create or replace function lenses.fn_budgets(p_assignee_ids uuid[], p_now timestamptz)
returns table (
  assignee_id uuid,
  is_overspent boolean,
  battles_left bigint,
  spending_limit_credits numeric
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_assignee_ids is null or not exists (select from agents.policies) then
    return;
  end if;
  return query
  with held as (
    select p.ai_lenser_id as assignee_id, p.ai_lenser_id, false as is_team
    from agents.policies as p
    where p.ai_lenser_id = any (p_assignee_ids)
    union all
    select m.team_id, m.ai_lenser_id, true
    from agents.team_members as m
    where m.team_id = any (p_assignee_ids)
      and exists (select from agents.policies as p where p.ai_lenser_id = m.ai_lenser_id)
  )

  select
    h.assignee_id,
    coalesce(bool_or(u.spent >= p.spending_limit_credits), false),
    min(p.max_daily_battles - u.battles),
    min(p.spending_limit_credits)
  from held as h
  inner join agents.policies as p on p.ai_lenser_id = h.ai_lenser_id
  cross join lateral (
    select
      coalesce(sum(d.spent), 0) as spent,
      count(*) filter (where d.is_battle) as battles
    from (
      select r.spent_credits as spent, w.kind = 'battle' and r.status <> 'cancelled' as is_battle
      from lenses.workflow_runs as r
      inner join lenses.workflows as w on w.id = r.workflow_id
      where r.ai_lenser_id = p.ai_lenser_id and r.lenser_id = p.lenser_id
        and r.created_at >= date_trunc('day', p_now, 'UTC')
        and r.created_at < date_trunc('day', p_now, 'UTC') + interval '24 hours'
      union all
      select
        r.spent_credits - min(q.spent_credits),
        w.kind = 'battle' and r.status <> 'cancelled'
      from lenses.run_retries as q
      inner join lenses.workflow_runs as r
        on r.id = q.run_id and r.created_at < date_trunc('day', p_now, 'UTC')
      inner join lenses.workflows as w on w.id = r.workflow_id
      where q.ai_lenser_id = p.ai_lenser_id and q.lenser_id = p.lenser_id
        and q.retried_at >= date_trunc('day', p_now, 'UTC')
        and q.retried_at < date_trunc('day', p_now, 'UTC') + interval '24 hours'
      group by r.id, w.kind
    ) as d
  ) as u
  group by h.assignee_id;
end;
$$;
