-- owner: lf_sql_engine
-- Every schedule that is not fine, one line for each finding. p_lenser_id narrows it to one tenant
-- (NULL: all; the caller has been checked). A slot is overdue three minutes after its due time,
-- unless a lane's newest tick is working on that schedule.
create or replace function lenses.fn_health_schedules(p_lenser_id uuid)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
with zones as materialized (
  select t.name, lenses.fn_has_zone(t.name) as is_known
  from (
    select distinct s.timezone as name from lenses.workflow_schedules as s
    where p_lenser_id is null or s.lenser_id = p_lenser_id
  ) as t
),

newest as materialized (
  select array_agg(n.id) as ids
  from (
    select max(t.id) as id from lenses.dispatch_ticks as t
    where t.started_at > clock_timestamp() - interval '3 minutes'
    group by t.lane
  ) as n
),

mine as materialized (
  select
    s.id, s.lenser_id, s.workflow_id, s.is_active, s.paused_at, s.paused_until, s.pause_note,
    s.next_run_at, s.due_at, s.last_run_at, s.last_dispatch_status, s.last_error_message,
    s.cron_expr, s.timezone, s.calendar_id,
    case when s.is_active and s.is_deferred then s.wait_reason end as wait_reason,
    lenses.fn_schedule_label(s.name, s.description, w.title) as called,
    w.status as workflow_status,
    z.is_known as has_zone,
    s.is_active and s.due_at < clock_timestamp() - interval '3 minutes'
    and (s.tick_id = any ((select n.ids from newest as n)::bigint[])) is not true as is_overdue,
    s.last_dispatch_status is null and s.next_run_at is not null
    and s.due_at >= clock_timestamp() - interval '3 minutes' as is_first_ahead,
    -- Calendar, condition, workflow or overlap skipped the slot on purpose: not an error.
    s.last_dispatch_status in (
      'skipped_calendar', 'skipped_condition', 'skipped_overlap', 'paused', 'deferred')
    and not (s.due_at < clock_timestamp() - interval '3 minutes') as is_meant,
    s.next_run_at is null
      and (s.end_at <= clock_timestamp() or s.cron_expr is null or z.is_known)
    as is_finished
  from lenses.workflow_schedules as s
  left join lenses.workflows as w on w.id = s.workflow_id
  inner join zones as z on z.name = s.timezone
  inner join lensers.profiles as p on p.id = s.lenser_id and p.departed_at is null
  where p_lenser_id is null or s.lenser_id = p_lenser_id
),

findings as (
  select
    1 as rank, m.id,
    case when m.paused_at is null then 'DISABLED' else 'PAUSED' end as label,
    'warn' as state,
    case when m.paused_at is null then 'not active' else
      format('paused %s ago', lenses.fn_health_since(m.paused_at, now()))
      || coalesce(', until ' || to_char(m.paused_until, 'YYYY-MM-DD HH24:MI UTC'), '')
      || coalesce(': ' || nullif(btrim(left(m.pause_note, 200)), ''), '')
    end as detail,
    format('lf-sql schedule resume %s', m.id) as advice
  from mine as m
  where not m.is_active

  union all

  select
    2, m.id, 'MISSED', 'bad',
    format('slot %s has not been dispatched, %s after it was due',
      to_char(m.next_run_at, 'YYYY-MM-DD HH24:MI UTC'), lenses.fn_health_since(m.due_at, now())),
    'see the worker line, and held rows: the next tick decides by onMissed'
  from mine as m
  where m.is_overdue

  union all

  select
    2, m.id, 'MISSED', 'bad',
    case
      when l.first_at = l.last_at then format('its newest slot, %s, was dropped as late',
        to_char(l.last_at, 'YYYY-MM-DD HH24:MI UTC'))
      else format('its newest slots were dropped as late: %s of them, %s to %s',
        l.payload #>> '{detail,count}', to_char(l.first_at, 'YYYY-MM-DD HH24:MI UTC'),
        to_char(l.last_at, 'YYYY-MM-DD HH24:MI UTC'))
    end,
    format('lf-sql schedule backfill %s --since %s # runs them; queue_policy.onMissed decides '
      'about the next time', m.id,
      to_char(greatest(l.first_at, now() - interval '29 days 23 hours'),
        'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
  from mine as m
  cross join lateral (
    select
      a.payload, a.occurred_at,
      coalesce(a.payload #>> '{detail,first}',
        a.payload ->> 'scheduled_for')::timestamptz as first_at,
      coalesce(a.payload #>> '{detail,last}', a.payload ->> 'scheduled_for')::timestamptz as last_at
    from agents.action_logs as a
    where a.schedule_id = m.id and a.action_type = 'schedule_skipped'
      and a.payload ->> 'reason' = 'missed'
    order by a.occurred_at desc
    limit 1
  ) as l
  -- Older slots cannot be backfilled any more, so they are not reported.
  where m.is_active and not m.is_overdue and m.last_dispatch_status = 'skipped_missed'
    and l.last_at > now() - interval '29 days'
    and not exists (
      select from lenses.workflow_runs as r
      where r.schedule_id = m.id and r.lenser_id = m.lenser_id and r.created_at >= l.occurred_at
    )

  union all

  select
    3, m.id, 'NEVER_RAN',
    case when m.is_first_ahead or m.is_meant or m.is_finished then 'warn' else 'bad' end,
    case
      when m.is_finished then 'it never ran, and no slot is left'
      when m.is_first_ahead
        then format('its first slot comes at %s', to_char(m.next_run_at, 'YYYY-MM-DD HH24:MI UTC'))
      when m.is_meant then format('it has not run yet: %s', case m.last_dispatch_status
        when 'skipped_calendar' then 'its calendar skipped the slots so far'
        when 'skipped_condition' then 'its condition was false'
        when 'paused' then 'its workflow was not active'
        when 'deferred' then case m.wait_reason
          when 'pending_quota' then 'the slot waits, as many runs of the tenant do as may'
          else 'the slot waits for a run that is in flight' end
        else 'a run was in flight'
      end)
      else 'it was due and never ran'
        || coalesce('; the newest slot: ' || m.last_dispatch_status, '')
    end,
    case
      when m.is_finished or m.is_first_ahead then null
      else format('lf-sql schedule preview %s # shows what stands in its way', m.id)
    end
  from mine as m
  where m.is_active and m.last_run_at is null
    and not exists (select from lenses.workflow_runs as r where r.schedule_id = m.id)

  union all

  select
    4, m.id, upper(m.last_dispatch_status),
    case m.last_dispatch_status when 'budget_exceeded' then 'warn' else 'bad' end,
    coalesce(nullif(btrim(left(m.last_error_message, 300)), ''),
      'its newest slot was not dispatched'),
    case m.last_dispatch_status
      when 'dispatch_failed' then
        'tried again after 1, 2, 4 and 8 minutes, then the slot is used up; fix what the message '
        'names'
      when 'condition_failed' then format('lf-sql schedule condition test %s # then fix it', m.id)
      when 'budget_exceeded'
        then 'raise agents.policies of the assignee, or wait for the next UTC day'
      else format('fix what the message names and save the schedule again; then lf-sql '
        'schedule preview %s', m.id)
    end
  from mine as m
  where m.is_active
    and m.last_dispatch_status in (
      'dispatch_failed', 'validation_failed', 'condition_failed', 'budget_exceeded')
    -- Errors whose cause is gone are left out.
    and lenses.fn_error_stands((select s from lenses.workflow_schedules as s where s.id = m.id))

  union all

  select
    5, m.id, 'WORKFLOW_NOT_ACTIVE', 'warn',
    format('its workflow is %s, so that its slots are used up without a run', m.workflow_status),
    format('lf-sql workflow status %s active', m.workflow_id)
  from mine as m
  where m.is_active and m.workflow_status <> 'active'

  union all

  -- For the owner; the operator has a line about the tenant.
  select
    5, m.id, 'QUOTA', 'warn',
    format('slot %s waits: as many of the tenant''s runs wait for executors or approval as '
      'max_pending_runs_per_lenser allows, %s',
      to_char(m.next_run_at, 'YYYY-MM-DD HH24:MI UTC'), d.max_pending_runs_per_lenser),
    'lf-sql runs list --status pending # let some be executed, or cancel some'
  from mine as m
  cross join lenses.dispatch_settings as d
  where p_lenser_id is not null and m.wait_reason = 'pending_quota'
    and d.max_pending_runs_per_lenser is not null

  union all

  select
    6, m.id, 'ZONE_GONE', 'bad', format('this server does not know the zone %s', m.timezone),
    'install the server''s zone data, or give the schedule a zone of pg_timezone_names'
  from mine as m
  where m.is_active and not m.has_zone and m.cron_expr is not null

  union all

  select 6, p.id, p.label, 'bad', p.detail, format('lf-sql schedule recompute %s', p.id)
  from lenses.fn_misplaced_slots(p_lenser_id) as p

  union all

  select 6, p.id, 'PARENT_GONE', 'bad', p.detail,
    'give the schedule one that is there, or delete it; its slots are used up without a run'
  from lenses.fn_missing_parents(p_lenser_id) as p
  where p.resource = 'schedule'

  union all

  select 8, k.schedule_id, 'ALL_SKIPPED', 'warn', k.detail, k.advice
  from lenses.fn_health_skipping(p_lenser_id) as k

  union all

  select
    7, m.id, 'CALENDAR_OVER',
    case c.kind when 'only_dates' then 'bad' else 'warn' end,
    format('the last date of calendar %s is %s: %s', c.name, d.last,
      case c.kind when 'only_dates' then 'every slot is skipped'
        else 'no slot is skipped any more' end),
    'add dates: lf-sql schedule calendar import, or attach another calendar'
  from mine as m
  inner join lenses.schedule_calendars as c on c.id = m.calendar_id
  cross join lateral (select max(x) as last from unnest(c.dates) as x) as d
  cross join lateral (select (now() at time zone c.timezone)::date as today) as t
  where m.is_active and d.last < t.today and (
    c.rules = '[]'
    or not exists (select from lenses.fn_calendar_dates(c.id, t.today, t.today + 3660)))
)

select
  'schedule', f.state, f.label, format('%s: %s', m.called, f.detail),
  f.advice, f.id
from findings as f
inner join mine as m on m.id = f.id
order by case f.state when 'bad' then 1 else 2 end, m.called, f.id, f.rank
$$;

comment on function lenses.fn_health_schedules(uuid) is
  'Findings about schedules, a line each; p_lenser_id NULL: of every tenant. Columns as of '
  'lenses.fn_health.';
