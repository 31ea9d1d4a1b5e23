-- owner: lf_sql_engine
-- For a process lf-sql worker: records that it lives and, after a tick that went well, that it
-- leads. Deletes the rows of processes that have been silent for a day. Time and session are the
-- server's. It also deletes old ticks that had nothing to do: after ten minutes it keeps one for
-- each minute, since one tick a second makes a million rows in two weeks.
create or replace function lenses.fn_worker_heartbeat(
  p_worker_id text, p_hostname text, p_pid integer, p_is_leader boolean, p_version text,
  p_lanes integer default null
)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
with gone as (
  delete from lenses.worker_heartbeats as w
  where w.beat_at < clock_timestamp() - interval '1 day' and w.worker_id <> p_worker_id
),

idle as (
  delete from lenses.dispatch_ticks as t
  where p_is_leader and t.driver = 'worker' and t.due = 0 and t.note is null
    and t.finished_at is not null
    and t.started_at between clock_timestamp() - interval '20 minutes'
      and clock_timestamp() - interval '10 minutes'
    and exists (
      select from lenses.dispatch_ticks as f
      where f.started_at >= date_trunc('minute', t.started_at) and f.started_at < t.started_at
    )
)

insert into lenses.worker_heartbeats as w (
  worker_id, hostname, pid, is_leader, version, started_at, beat_at, server_pid, lanes
)
values (
  p_worker_id, p_hostname, p_pid, p_is_leader, p_version, clock_timestamp(), clock_timestamp(),
  pg_backend_pid(),
  p_lanes
)
on conflict (worker_id) do update
set is_leader = excluded.is_leader, beat_at = excluded.beat_at, server_pid = excluded.server_pid,
  lanes = excluded.lanes
$$;

comment on function lenses.fn_worker_heartbeat(text, text, integer, boolean, text, integer) is
  'For lf-sql worker: records that the process p_worker_id (random, new with each start) lives, '
  'whether it leads, and for how many lanes it has connections (p_lanes).';
