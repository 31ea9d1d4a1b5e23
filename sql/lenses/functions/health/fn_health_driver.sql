-- owner: lf_sql_engine
-- Does anything dispatch? Reads the newest tick, the workers' heartbeats and the settings. What
-- pg_cron shows comes in p_facts (fn_health_pg_cron; NULL: not asked). On a standby only the
-- replicated tick is evidence. The clock is the server's own: a caller cannot set it.
create or replace function lenses.fn_health_driver(p_facts jsonb)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_silence constant interval := interval '3 minutes';
  v_settings lenses.dispatch_settings;
  v_tick lenses.dispatch_ticks;
  v_round record;
  v_leaders text[];
  v_standbys integer;
  v_is_standby constant boolean := pg_is_in_recovery();
  v_is_recent boolean;
  v_has_worker boolean;
  v_is_failing boolean;
  v_is_new boolean;
  v_job record;
  v_ago text;
  v_gap record;
  v_read_only record;
  v_squatter record;
begin
  select s.* into v_settings from lenses.dispatch_settings as s;
  select t.* into v_tick from lenses.dispatch_ticks as t
  where t.undone_at is null order by t.id desc limit 1;
  -- Lanes that tick side by side are one round, and count as one tick.
  select
    min(t.started_at) as started_at,
    case when bool_and(t.finished_at is not null) then max(t.finished_at) end as finished_at,
    sum(t.due) as due, sum(t.dispatched) as dispatched, sum(t.failed) as failed, count(*) as lanes,
    string_agg(distinct nullif(btrim(t.note), ''), '; ') as note
  into v_round
  from lenses.dispatch_ticks as t
  where t.id = v_tick.id
    or t.round_at = v_tick.round_at and t.started_at >= v_tick.round_at and t.undone_at is null;
  select
    array_agg(format('%s:%s', w.hostname, w.pid) order by w.started_at) filter (where w.is_leader),
    count(*) filter (where not w.is_leader)
  into v_leaders, v_standbys
  from lenses.worker_heartbeats as w
  where w.beat_at > v_now - interval '30 seconds';
  v_has_worker := coalesce(cardinality(v_leaders), 0) > 0;
  v_is_recent := coalesce(
    v_tick.started_at between v_now - v_silence and v_now + interval '5 seconds', false);
  v_ago := lenses.fn_health_since(v_tick.started_at, v_now);

  select j.* into v_job
  from lenses.fn_health_pg_cron(
    p_facts, v_has_worker or (v_is_recent and v_tick.driver <> 'pg_cron')) as j;

  -- The settings are touched by an install, and when it registers the jobs.
  v_is_new := v_settings.updated_at > v_now - v_silence and (
    v_tick.id is null and v_has_worker
    or v_job.label = 'registered'
    and (v_tick.id is null or p_facts ->> 'oldest_job_run' is null)
  );

  select r.* into v_read_only from lenses.fn_health_read_only() as r;

  check_name := 'worker';
  if v_is_standby then
    state := case when v_is_recent then 'warn' else 'bad' end;
    label := 'standby';
    detail := format(
      'this server is a standby, in recovery and read-only: the primary dispatches; its newest '
      'tick that has arrived '
        || 'here is %s',
      coalesce(v_ago || ' old', 'none')
    );
    advice := case
      when v_is_recent
        then 'ask the primary for its health; after a failover the dispatcher goes on by itself'
      else 'see whether the primary ticks and whether replication keeps up'
    end;
    return next;
    return;
  elsif v_read_only.advice is not null then
    state := 'bad';
    label := 'read-only';
    detail := v_read_only.detail;
    advice := v_read_only.advice;
  elsif v_settings.is_frozen then
    state := 'bad';
    label := 'frozen';
    detail := 'dispatching is frozen'
      || coalesce(' since ' || to_char(v_settings.frozen_at, 'YYYY-MM-DD HH24:MI UTC'), '')
      || coalesce(': ' || nullif(btrim(v_settings.frozen_reason), ''), '');
    advice := 'lf-sql unfreeze # when the reason is gone';
  elsif v_tick.started_at > v_now + interval '5 seconds' then
    state := 'bad';
    label := 'clock';
    detail := format(
      'the newest tick is stamped %s in the future: the server''s clock was set back', v_ago);
    advice := 'put the clock right (NTP), then: lf-sql schedule recompute --all; it looks for the '
      'next slots again, '
      || 'and none is dispatched twice';
  elsif v_is_recent then
    state := 'ok';
    label := 'ok';
    detail := format('last tick %s ago, by %s', v_ago, v_tick.driver)
      || case when v_has_worker then format('; leader %s, %s standing by', v_leaders[1], v_standbys)
        else '' end;
  elsif v_is_new then
    state := 'ok';
    label := 'ok';
    detail := case
      when v_tick.id is null then 'installed just now; the first tick comes within a minute'
      else format('the last tick was %s ago, and the job was registered just now; its first comes '
        'within a minute', v_ago)
    end;
  else
    state := 'bad';
    label := 'silent';
    detail := case
      when v_tick.id is null then 'nothing has ever ticked'
      else format('the last tick was %s ago', v_ago)
    end;
    advice := case
      when v_has_worker then 'a worker is alive and does not tick: see its log'
      when v_job.state = 'bad' then 'fix pg_cron as said below, or run lf-sql worker'
      when v_job.label = 'registered'
        then 'the job is there and does not run: see cron.job_run_details and the server''s log, '
          'or run lf-sql worker'
      else 'run lf-sql worker, or lf-sql install where the server has pg_cron'
    end;
  end if;
  return next;

  check_name := 'pg_cron';
  state := v_job.state;
  label := v_job.label;
  detail := v_job.detail;
  advice := v_job.advice;
  return next;

  if coalesce(cardinality(v_leaders), 0) > 1 then
    check_name := 'dispatchers';
    state := 'warn';
    label := cardinality(v_leaders)::text;
    detail := format('%s workers believe that they lead: %s', cardinality(v_leaders),
      array_to_string(v_leaders, ', '));
    advice := 'no slot is dispatched twice, but a lock does not hold: connect workers directly, '
      'not through a pooler';
    return next;
  end if;

  -- The two numbers of the worker's advisory lock. A worker of an older version does not name its
  -- session.
  select l.pid, a.usename into v_squatter
  from pg_locks as l
  inner join pg_database as d on d.oid = l.database and d.datname = current_database()
  inner join pg_stat_activity as a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 2
    and l.classid = 1818635635::oid and l.objid = 1902911537::oid
    and not exists (
      select from lenses.worker_heartbeats as w
      where w.server_pid = l.pid or w.server_pid is null
        and w.beat_at > v_now - interval '30 seconds'
    );
  if found then
    check_name := 'lock';
    state := 'warn';
    label := 'taken';
    detail := format(
      'server process %s (role %s) holds the lock of the worker that leads, and is no worker',
      v_squatter.pid,
      v_squatter.usename
    );
    advice := format(
      'workers tick all the same; as a superuser: select pg_terminate_backend(%s), and ask that '
      'role why', v_squatter.pid
    );
    return next;
  end if;

  check_name := 'last tick';
  if v_tick.id is not null then
    v_is_failing := (
      select coalesce(bool_and(coalesce(t.note, '') ~ 'failed: |^[0-9A-Z]{5}: '), false)
      from lenses.dispatch_ticks as t
      where t.started_at > v_now - v_silence and t.undone_at is null
    );
    state := case
      when v_is_failing or not (v_is_recent or v_is_new or v_settings.is_frozen) then 'bad'
      else 'ok'
    end;
    label := case when v_is_failing then 'failing' when state = 'ok' then 'ok' else 'old' end;
    detail := format(
      '%s, %s: %s schedules due, %s runs, %s failed',
      to_char(v_round.started_at, 'YYYY-MM-DD HH24:MI:SS UTC'),
      case
        when v_round.finished_at is null then 'not finished'
        else 'took ' || round(
          (extract(epoch from v_round.finished_at)
            - extract(epoch from v_round.started_at)) * 1000)::text || ' ms'
      end,
      v_round.due, v_round.dispatched, v_round.failed
    ) || case when v_round.lanes > 1 then format('; %s lanes', v_round.lanes) else '' end
      || coalesce('; ' || v_round.note, '');
    advice := case label
      when 'failing'
        then 'each tick of the last minutes failed so: fix what it names; lf-sql verify says what '
          'is off'
      when 'old' then 'see worker above'
    end;
    return next;
  end if;

  return query select l.* from lenses.fn_health_lanes(p_facts, v_has_worker) as l;

  if v_tick.started_at <= v_now + interval '5 seconds' and exists (
    select from lenses.dispatch_ticks as t where t.started_at > v_now + interval '5 seconds'
  ) then
    check_name := 'clock';
    state := 'warn';
    label := 'was ahead';
    detail := format('ticks are stamped up to %s in the future: the server''s clock was ahead for '
      'a while', (
      select lenses.fn_health_since(v_now, max(t.started_at)) from lenses.dispatch_ticks as t));
    advice := 'lf-sql schedule recompute --all # finds the next slots again; none is '
      'dispatched twice';
    return next;
  end if;

  select g.started_at, g.gap into v_gap
  from (
    select t.started_at, t.started_at - lag(t.started_at) over (order by t.started_at) as gap
    from lenses.dispatch_ticks as t
    where t.started_at > v_now - interval '1 day' and t.started_at <= v_now
      and t.undone_at is null
  ) as g
  where g.gap > interval '1 hour'
  order by g.gap desc
  limit 1;
  if found then
    check_name := 'gaps';
    state := 'warn';
    label := 'seen';
    detail := format(
      'nothing ticked for %s before %s', lenses.fn_health_age(v_gap.gap),
      to_char(v_gap.started_at, 'YYYY-MM-DD HH24:MI UTC')
    );
    advice := 'the server was down or suspended: onMissed of each schedule decided about its '
      'slots; '
      || 'a server that suspends itself when idle cannot keep time';
    return next;
  end if;
end;
$$;

comment on function lenses.fn_health_driver(jsonb) is
  'Lines about who drives the dispatcher: worker, pg_cron, dispatchers, lock, last tick, lanes, '
  'gaps. p_facts as in lenses.fn_health.';
