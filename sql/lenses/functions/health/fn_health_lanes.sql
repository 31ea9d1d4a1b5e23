-- owner: lf_sql_engine
-- A line a lane where there are several, and one a pg_cron job of a lane too many. A lane that does
-- not tick is no bad news: the others do its work, only later. p_facts -> 'lanes': the numbers of
-- lanes with a job, where it could be asked. Under a worker (p_has_worker) lanes tick only while
-- there is more to do than a batch, so that its heartbeat says which are there.
create or replace function lenses.fn_health_lanes(p_facts jsonb, p_has_worker boolean)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with settings as materialized (
  select s.dispatch_lanes, clock_timestamp() as now, s.updated_at from lenses.dispatch_settings as s
),

lanes as materialized (
  select
    n.lane,
    n.lane > s.dispatch_lanes as is_surplus,
    s.now,
    s.updated_at > s.now - interval '3 minutes' as is_new,
    case when jsonb_typeof(p_facts -> 'lanes') = 'array'
      then p_facts -> 'lanes' @> to_jsonb(n.lane) end as has_job,
    (
      select max(w.lanes) from lenses.worker_heartbeats as w
      where w.is_leader and w.beat_at > s.now - interval '30 seconds'
    ) as worker_lanes,
    t.started_at, t.finished_at, t.dispatched
  from settings as s
  cross join generate_series(1, 16) as n (lane)
  left join lateral (
    select x.started_at, x.finished_at, x.dispatched
    from lenses.dispatch_ticks as x
    where x.lane = n.lane and x.undone_at is null
      and x.started_at between s.now - interval '3 minutes' and s.now + interval '5 seconds'
    order by x.started_at desc
    limit 1
  ) as t on true
  where s.dispatch_lanes > 1 or n.lane > 1
),

judged as (
  select
    l.*,
    case
      when l.is_surplus then 'left over'
      when p_has_worker and l.lane <= l.worker_lanes or l.started_at is not null then 'ok'
      when p_has_worker and l.worker_lanes is not null then 'not connected'
      when l.has_job is false then 'job missing'
      when l.is_new then 'new'
      else 'silent'
    end as word
  from lanes as l
  where not l.is_surplus or l.has_job
)

select
  'lane ' || j.lane,
  case when j.word in ('ok', 'new') then 'ok' else 'warn' end,
  j.word,
  case
    when j.is_surplus then 'its job does nothing: dispatch_lanes is lower'
    when j.started_at is not null then format(
      'last tick %s ago, %s, %s runs', lenses.fn_health_since(j.started_at, j.now),
      coalesce('took ' || round(
        (extract(epoch from j.finished_at) - extract(epoch from j.started_at)) * 1000) || ' ms',
      'not finished'), j.dispatched)
    when j.word = 'ok' then 'connected; it ticks while there is more to do than a batch'
    when j.word = 'new' then 'set just now; its first tick comes within a minute'
    when j.word = 'not connected'
      then format('the worker has connections for %s lanes', j.worker_lanes)
    when j.word = 'job missing' then 'there is no job for it that this role can see'
    else 'it has not ticked for 3 minutes; the others do its work'
  end,
  case j.word
    when 'left over' then 'run lf-sql install; it takes the job away'
    when 'not connected' then 'see the log of the worker; the server may be out of connections'
    when 'job missing' then 'run lf-sql install; it registers the job'
    when 'silent'
      then 'run lf-sql install, which registers its job; see cron.job_run_details and '
        'cron.max_running_jobs'
  end,
  null::uuid
from judged as j
order by j.lane
$$;

comment on function lenses.fn_health_lanes(jsonb, boolean) is
  'Lines about the lanes of the dispatcher, where there are several. p_facts as in '
  'lenses.fn_health; p_has_worker: a worker leads.';
