-- For the owner: everything that runs by time, workflows and gateways alike. Equal expressions are
-- described once, and a function is called once for each state that occurs, not for each schedule.
create or replace function public.fn_observe_schedules()
returns table (
  resource text,
  resource_type text,
  resource_id uuid,
  schedule_id uuid,
  type text,
  expression text,
  description text,
  timezone text,
  status text,
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_status text,
  assignee text,
  label text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  return query
  with states as materialized (
    select a.is_active, p.is_paused, f.is_finished, lenses.fn_schedule_status(
      a.is_active, case when p.is_paused then now() end, f.is_finished) as status
    from (values (true), (false)) as a (is_active)
    cross join (values (true), (false)) as p (is_paused)
    cross join (values (true), (false)) as f (is_finished)
  ),
  schedules as materialized (
    select
      w.title as resource, 'workflow' as resource_type, w.id as resource_id, s.id as schedule_id,
      coalesce(
        s.cron_expr, lenses.fn_interval_period(s.interval_ms),
        to_char(s.run_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')) as expression,
      s.schedule_type as type, s.cron_expr, s.interval_ms, s.run_at,
      s.timezone, x.status, s.next_run_at,
      coalesce(r.created_at, s.last_run_at) as last_run_at,
      coalesce(r.status, s.last_dispatch_status) as last_status,
      coalesce(a.name, t.name) as assignee, coalesce(s.name, s.description) as label, s.created_at
    from lenses.workflow_schedules as s
    inner join lenses.workflows as w on w.id = s.workflow_id and w.lenser_id = s.lenser_id
    inner join states as x
      on x.is_active = s.is_active and x.is_paused = (s.paused_at is not null)
      and x.is_finished = (s.next_run_at is null and lenses.fn_is_finished(
        s.schedule_type, s.next_run_at, s.end_at))
    left join lateral (
      select n.status, n.created_at
      from lenses.workflow_runs as n
      where n.schedule_id = s.id and n.lenser_id = s.lenser_id
      order by n.created_at desc, n.scheduled_for desc nulls first, n.id
      limit 1
    ) as r on true
    left join agents.ai_lensers as a
      on a.id = s.assignee_id and a.lenser_id = s.lenser_id and s.assignee_type = 'agent'
    left join agents.teams as t
      on t.id = s.assignee_id and t.lenser_id = s.lenser_id and s.assignee_type = 'team'
    where s.lenser_id = v_lenser_id
    union all
    select
      g.name, 'gateway', g.id, c.id, c.cron_expr, 'cron', c.cron_expr, null, null, c.timezone,
      x.status, c.next_run_at, c.last_run_at, c.last_status, null, c.operation, c.created_at
    from agents.gateway_crons as c
    inner join states as x on x.is_active = c.is_active and not x.is_paused and not x.is_finished
    inner join agents.gateways as g on g.id = c.gateway_id and g.lenser_id = c.lenser_id
    where c.lenser_id = v_lenser_id
  ),
  english as materialized (
    select k.expression, lenses.fn_schedule_describe(
      k.cron_expr, k.interval_ms, k.run_at) as description
    from (
      select distinct s.expression, s.cron_expr, s.interval_ms, s.run_at from schedules as s
    ) as k
  )
  select
    s.resource, s.resource_type, s.resource_id, s.schedule_id,
    s.type,
    s.expression, e.description,
    case when s.cron_expr is not null then nullif(s.timezone, 'UTC') end, s.status,
    case when s.status = 'enabled' then s.next_run_at end, s.last_run_at, s.last_status, s.assignee,
    s.label
  from schedules as s
  inner join english as e on e.expression = s.expression
  order by s.resource, s.resource_type, s.created_at, s.schedule_id;
end;
$$;

comment on function public.fn_observe_schedules() is
  'Every schedule the caller owns: resource (the workflow''s title or the gateway''s name), '
  'resource_type (workflow, gateway), resource_id, schedule_id, type (cron, interval, once), '
  'expression (or the period, such as 6h, or the instant), description (its English), timezone '
  '(NULL for UTC and intervals), status (enabled, finished, paused, disabled), next_run_at (NULL '
  'unless enabled), last_run_at and last_status of the newest run, whatever started it (of the '
  'newest slot where there is none), assignee (name), label (the schedule''s name or description, '
  'or the gateway''s operation). 42501: no caller.';
