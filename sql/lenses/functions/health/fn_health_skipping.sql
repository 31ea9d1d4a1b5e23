-- owner: lf_sql_engine
-- Schedules that let nothing through: all of their last ten slots, and all of the last day, were
-- skipped for one reason. A single skip is often intended; all of them rarely are. p_lenser_id
-- NULL: of every tenant (the caller has been checked). It looks only at schedules whose newest slot
-- was skipped, each by an index.
create or replace function lenses.fn_health_skipping(p_lenser_id uuid)
returns table (schedule_id uuid, detail text, advice text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
select
  s.id,
  format('all of its last slots were skipped, %s: %s or more since %s',
    case t.reason
      when 'calendar' then 'by its calendar'
      when 'condition_failed' then 'its condition was false'
      else 'a run was in flight'
    end,
    t.n, to_char(t.first_at, 'YYYY-MM-DD HH24:MI UTC')),
  case t.reason
    when 'calendar' then format(
      'lf-sql schedule preview %s # do calendar and slots ever meet?', s.id)
    when 'condition_failed'
      then format('lf-sql schedule condition test %s # can it be true at all?', s.id)
    else format(
      'lf-sql runs list --schedule %s # what is in flight keeps every other slot out', s.id)
  end
from lenses.workflow_schedules as s
inner join lensers.profiles as p on p.id = s.lenser_id and p.departed_at is null
cross join lateral (
  select
    count(*) as n, min(l.occurred_at) as first_at, max(l.occurred_at) as last_at,
    min(l.payload ->> 'reason') as reason,
    bool_and(l.action_type = 'schedule_skipped') and count(distinct l.payload ->> 'reason') = 1
      as is_one
  from (
    select a.action_type, a.payload, a.occurred_at
    from agents.action_logs as a
    where a.schedule_id = s.id
      and a.action_type in ('schedule_skipped', 'dispatch_schedule', 'schedule_failed')
    order by a.occurred_at desc
    limit 10
  ) as l
) as t
where s.is_active and (p_lenser_id is null or s.lenser_id = p_lenser_id)
  and s.last_dispatch_status in ('skipped_calendar', 'skipped_condition', 'skipped_overlap')
  and t.n = 10 and t.is_one
  and t.reason in ('calendar', 'condition_failed', 'overlap_in_flight')
  and not exists (
    select from agents.action_logs as a
    where a.schedule_id = s.id and a.occurred_at > t.last_at - interval '1 day'
      and a.action_type in ('schedule_skipped', 'dispatch_schedule', 'schedule_failed')
      and (a.action_type <> 'schedule_skipped' or a.payload ->> 'reason' is distinct from t.reason)
  )
  and (
    t.first_at <= t.last_at - interval '1 day'
    or t.reason = (
      select a.payload ->> 'reason'
      from agents.action_logs as a
      where a.schedule_id = s.id and a.occurred_at <= t.last_at - interval '1 day'
        and a.action_type in ('schedule_skipped', 'dispatch_schedule', 'schedule_failed')
      order by a.occurred_at desc
      limit 1
    )
  )
$$;

comment on function lenses.fn_health_skipping(uuid) is
  'Schedules that skipped their last ten slots, and all of the last day, for one reason, '
  'with what to do.';
