-- The tenant's view: whether anything dispatches at all, what was skipped in the last day, and each
-- of the caller's schedules that is not fine. The other lines about the machinery are for the
-- operator.
create or replace function public.fn_schedule_health()
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
with caller as materialized (
  select lensers.fn_require_lenser() as lenser_id
)

select h.check_name, h.state, h.label, h.detail, null::text, h.schedule_id
from caller as c
cross join lateral lenses.fn_health_driver(null) as h
where h.check_name = 'worker'
union all
select
  'skips', 'ok', coalesce(
    string_agg(format('%s %s', e.reason, e.total), ', ' order by e.total desc, e.reason), 'none'),
  'slots skipped in the last day, by reason', null, null
from (
  select l.payload ->> 'reason' as reason,
    sum(coalesce((l.payload #>> '{detail,count}')::bigint, 1)) as total
  from caller as c
  inner join agents.action_logs as l on l.lenser_id = c.lenser_id
  where l.action_type = 'schedule_skipped' and l.occurred_at > now() - interval '1 day'
  group by 1
) as e
union all
select h.* from caller as c cross join lateral lenses.fn_health_approvals(c.lenser_id) as h
union all
select h.* from caller as c cross join lateral lenses.fn_health_schedules(c.lenser_id) as h
union all
select h.* from caller as c cross join lateral lenses.fn_health_gateway_crons(c.lenser_id) as h
$$;

comment on function public.fn_schedule_health() is
  'The caller''s health, a line a row: check_name, state (ok, warn, bad), label, detail, advice, '
  'schedule_id. First whether anything dispatches, then each of the caller''s schedules that has '
  'a problem: MISSED, NEVER_RAN, PAUSED and the like. 42501: no caller.';
