-- owner: lf_sql_engine
-- For run-now and backfill: the locks of a tick on one schedule, the schedule's row and, where
-- battles are counted, the agents' policies.
create or replace function lenses.fn_lock_for_dispatch(p_schedule_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from lenses.workflow_schedules as s where s.id = p_schedule_id for no key update;
  perform from agents.policies as p
  where p.max_daily_battles is not null and p.ai_lenser_id in (
    select coalesce(s.assignee_id, a.assignee_id)
    from lenses.workflow_schedules as s
    left join agents.workflow_assignments as a on a.id = s.workflow_assignment_id
    where s.id = p_schedule_id
    union all
    select m.ai_lenser_id
    from lenses.workflow_schedules as s
    inner join agents.team_members as m on m.team_id = s.assignee_id
    where s.id = p_schedule_id)
  order by p.ai_lenser_id
  for no key update;
end
$$;
