-- owner: lf_sql_engine
-- Schedules whose pause a tick has ended ahead of p_now and that nobody has changed since, with
-- what the log says of the newest such pause; none of a tenant that has left for another cell.
create or replace function lenses.fn_early_resumes(p_now timestamptz)
returns table (schedule_id uuid, occurred_at timestamptz, payload jsonb)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select distinct on (s.id) s.id, a.occurred_at, a.payload
from agents.action_logs as a
inner join lenses.workflow_schedules as s
  on s.id = a.schedule_id and s.is_active and s.updated_at = a.occurred_at
inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
where a.occurred_at > p_now and a.action_type = 'schedule_resumed' and a.payload ? 'paused_until'
order by s.id, a.id desc
$$;
