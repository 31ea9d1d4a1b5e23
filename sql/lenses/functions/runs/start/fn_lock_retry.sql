-- owner: lf_sql_engine
-- What a retry of p_run is held against, locked before the run itself: the schedule's row and,
-- where battles are counted, the limits that count them, in the order of lenses.fn_lock_battles.
create or replace function lenses.fn_lock_retry(p_run lenses.workflow_runs)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from lenses.workflow_schedules as s
  where s.id = p_run.schedule_id
  for no key update;
  perform from agents.policies as p
  where p.max_daily_battles is not null
    and exists (
      select from lenses.workflows as w where w.id = p_run.workflow_id and w.kind = 'battle')
    and p.ai_lenser_id in (
      select p_run.ai_lenser_id
      union all
      select m.ai_lenser_id from agents.team_members as m where m.team_id = p_run.team_id)
  order by p.ai_lenser_id
  for no key update;
end;
$$;
