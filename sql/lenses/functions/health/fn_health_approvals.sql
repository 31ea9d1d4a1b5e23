-- owner: lf_sql_engine
-- One line about the runs that wait for their owner, or none where no run does; p_lenser_id NULL:
-- of every tenant (the caller has been checked). Waiting is what approval is for, so the line is
-- plain at first and becomes a warning after a day.
create or replace function lenses.fn_health_approvals(p_lenser_id uuid)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
select
  'approvals',
  case when a.oldest < a.now - interval '1 day' then 'warn' else 'ok' end,
  a.n::text,
  format('%s %s for the owner''s decision, the oldest for %s%s', a.n,
    case a.n when 1 then 'run waits' else 'runs wait' end, lenses.fn_health_since(a.oldest, a.now),
    case
      when a.n = 1 or a.schedules = 0 then ''
      when a.schedules = 1 then '; those of schedules are all of one'
      else format('; they are of %s schedules', a.schedules)
    end),
  'lf-sql runs list --status pending_approval # then: lf-sql runs approve RUN... or reject RUN...',
  null::uuid
from (
  select
    count(*) as n, min(r.created_at) as oldest, count(distinct r.schedule_id) as schedules,
    clock_timestamp() as now
  from lenses.workflow_runs as r
  where r.status = 'pending_approval' and (p_lenser_id is null or r.lenser_id = p_lenser_id)
) as a
where a.n > 0
$$;

comment on function lenses.fn_health_approvals(uuid) is
  'A line about runs in pending_approval: how many, of how many schedules, since when. Columns as '
  'of lenses.fn_health.';
