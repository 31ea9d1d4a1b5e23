-- owner: lf_sql_engine
-- Who keeps due schedules waiting: ticks go on, but slots have been due for more than 90 seconds
-- and a session has held a lock on schedules for a minute. p_facts -> 'holders' is what the
-- connected role sees of such sessions (sql/queries/health_holders.sql). A row that one transaction
-- has locked or written has that transaction's number in xmax, so the line says how many rows it
-- holds. Where several hold a row together it has another number, and the line says only that they
-- may.
create or replace function lenses.fn_health_holders(p_facts jsonb)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with late as materialized (
  select d.due_at, s.xmax::text as schedule_xid, d.xmax::text as due_xid
  from lenses.schedule_due as d
  inner join lenses.workflow_schedules as s on s.id = d.schedule_id
  where d.due_at < clock_timestamp() - interval '90 seconds'
    and p_facts #> '{holders,0}' is not null
    and exists (
      select from lenses.dispatch_ticks as t
      where t.started_at between clock_timestamp() - interval '3 minutes' and clock_timestamp()
        and t.started_at > d.due_at
    )
),

holders as (
  select
    h.pid, h.role, nullif(h.application_name, '') as application_name, h.state, h.age, h.lock,
    h.relation,
    (select count(*) from late as l where h.xid in (l.schedule_xid, l.due_xid)) as held,
    (select count(*) from late) as due,
    (select min(l.due_at) from late as l) as oldest
  from jsonb_to_recordset(
    case jsonb_typeof(p_facts -> 'holders') when 'array' then p_facts -> 'holders' end
  ) as h (
    pid integer, role text, application_name text, state text, age float8, lock text, relation text,
    xid text
  )
)

select
  'held rows', 'bad', h.pid::text,
  format('%s schedules are due, the oldest for %s, and no tick can lock %s: process %s '
    '(role %s%s%s) %s %s on %s%s',
    h.due, lenses.fn_health_since(h.oldest, clock_timestamp()),
    case when h.held > 0 then format('%s of them', h.held) else 'them all' end, h.pid,
    coalesce(nullif(h.role, ''), 'not visible'), coalesce(', ' || h.application_name, ''),
    coalesce(', ' || nullif(h.state, ''), ''), case when h.held > 0 then 'holds'
      else 'may be why: it holds' end,
    h.lock, h.relation,
    coalesce(' for ' || lenses.fn_health_age(make_interval(secs => h.age)), '')),
  format('select pg_terminate_backend(%s); -- or end its transaction; what was on time when it '
    'came is dispatched', h.pid),
  null::uuid
from holders as h
where h.due > 0
order by h.held desc, h.age desc nulls last
limit 3
$$;

comment on function lenses.fn_health_holders(jsonb) is
  'Lines about sessions that hold rows of due schedules. p_facts as in lenses.fn_health.';
