-- owner: lf_sql_engine
-- Where battles of these schedules may be held against a limit, the count and the runs that it lets
-- through must be one step: whoever dispatches such schedules takes the settings row first. One lock
-- for all, taken after the schedules' own, so that two dispatchers cannot cross.
create or replace function lenses.fn_lock_battles(p_schedule_ids uuid[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from agents.policies as p where p.max_daily_battles is not null)
    and exists (
      select
      from lenses.workflow_schedules as s
      inner join lenses.workflows as w on w.id = s.workflow_id
      where s.id = any (p_schedule_ids) and w.kind = 'battle'
    ) then
    perform from lenses.dispatch_settings as d for no key update;
  end if;
end
$$;
