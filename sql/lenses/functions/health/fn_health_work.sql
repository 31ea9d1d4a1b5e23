-- owner: lf_sql_engine
-- Is the work done? Reports backlog, runs that no worker finishes, and history older than its
-- retention. What only the connected role can see (old snapshots, pg_cron's own log) comes in
-- p_facts. Each question is one index probe or, for history, one for each tenant; where there is a
-- quota of waiting runs, a look at the schedules that are due within the minute.
create or replace function lenses.fn_health_work(p_facts jsonb)
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
  v_settings lenses.dispatch_settings;
  v_count bigint;
  v_failed bigint;
  v_slots bigint;
  v_tenants text;
  v_oldest timestamptz;
  v_skips text;
  v_behind text[];
  v_advice text;
begin
  select s.* into v_settings from lenses.dispatch_settings as s;

  select count(*), min(d.due_at) into v_count, v_oldest from lenses.schedule_due as d
  where d.due_at <= v_now;
  check_name := 'backlog';
  state := case when v_oldest < v_now - interval '3 minutes' then 'bad' else 'ok' end;
  label := case state when 'ok' then 'ok' else 'behind' end;
  detail := case v_count
    when 0 then 'nothing is due'
    else format('%s %s due, the oldest for %s', v_count,
      case v_count when 1 then 'schedule is' else 'schedules are' end,
      lenses.fn_health_since(v_oldest, v_now))
  end;
  advice := case state when 'bad' then case
    when v_settings.is_frozen then 'unfreeze; onMissed decides about what is late by then'
    else 'if the worker line is fine the dispatcher is catching up: look again, and at '
      'max_catchup_per_tick'
  end end;
  return next;

  return query select h.* from lenses.fn_health_holders(p_facts) as h;

  select count(*), min(r.lease_expires_at) into v_count, v_oldest
  from lenses.workflow_runs as r
  where r.status = 'running' and r.lease_expires_at < v_now - interval '3 minutes';
  check_name := 'stuck runs';
  state := case v_count when 0 then 'ok' else 'bad' end;
  label := case v_count when 0 then 'none' else v_count::text end;
  detail := case v_count
    when 0 then 'no lease is over'
    else format('%s %s over, the oldest for %s', v_count,
      case v_count when 1 then 'run whose lease is' else 'runs whose lease is' end,
      lenses.fn_health_since(v_oldest, v_now))
  end;
  advice := case when v_count > 0 then
    'select lenses.fn_reap_workflow_runs(); -- the tick does so too: see the worker line' end;
  return next;

  select count(*), min(r.created_at) into v_count, v_oldest
  from lenses.workflow_runs as r
  where r.status = 'pending' and coalesce(r.available_at, r.created_at) < v_now - interval '1 hour'
    and r.created_at < v_now - interval '1 hour';
  if v_count > 0 then
    check_name := 'waiting runs';
    state := 'warn';
    label := v_count::text;
    detail := format('%s %s that no executor has claimed, the oldest for %s', v_count,
      case v_count when 1 then 'run' else 'runs' end,
      lenses.fn_health_since(v_oldest, v_now));
    advice := 'start executors: lf-sql runs work -- COMMAND';
    return next;
  end if;

  if v_settings.max_pending_runs_per_lenser is not null then
    select
      count(*), sum(q.slots),
      string_agg(format('%s (%s)', q.called, q.slots), ', ' order by q.slots desc, q.called)
        filter (where q.place <= 5)
    into v_count, v_slots, v_tenants
    from (
      select
        coalesce(nullif(btrim(left(p.handle, 60)), ''), p.id::text) as called, count(*) as slots,
        row_number() over (order by count(*) desc, p.handle, p.id) as place
      from lenses.schedule_due as d
      inner join lenses.workflow_schedules as s on s.id = d.schedule_id
      inner join lensers.profiles as p on p.id = s.lenser_id
      where d.due_at <= v_now + interval '1 minute'
        and s.is_active and s.is_deferred and s.wait_reason = 'pending_quota'
      group by p.id
    ) as q;
    if v_count > 0 then
      check_name := 'quota';
      state := 'warn';
      label := v_count::text;
      detail := format(
        'max_pending_runs_per_lenser is %s, and so many runs of %s wait already; %s for room: %s%s',
        v_settings.max_pending_runs_per_lenser,
        case v_count when 1 then 'a tenant' else format('%s tenants', v_count) end,
        case v_slots when 1 then 'a slot waits' else format('%s slots wait', v_slots) end,
        v_tenants, case when v_count > 5 then ', ...' else '' end);
      advice := 'start executors: lf-sql runs work -- COMMAND; or raise '
        'max_pending_runs_per_lenser: lf-sql settings set';
      return next;
    end if;
  end if;

  return query select a.* from lenses.fn_health_approvals(null) as a;

  select sum(t.failed) into v_failed from lenses.dispatch_ticks as t
  where t.started_at > v_now - interval '1 day';
  select string_agg(format('%s %s', e.key, e.total), ', ' order by e.total desc, e.key) into v_skips
  from (
    select k.key, sum(k.value::bigint) as total
    from lenses.dispatch_ticks as t
    cross join lateral jsonb_each_text(t.skipped) as k
    where t.started_at > v_now - interval '1 day' and t.skipped <> '{}'
    group by k.key
  ) as e;
  check_name := 'skips';
  state := 'ok';
  label := coalesce(v_skips, 'none');
  detail := format('slots skipped in the last day, by reason; %s dispatches failed',
    coalesce(v_failed, 0));
  advice := null;
  return next;

  select
    coalesce(array_agg(format('%s from %s', l.history, to_char(l.oldest, 'YYYY-MM-DD'))
      order by array_position(array['runs', 'logs', 'ticks'], l.history)), '{}')
  into v_behind
  from lenses.fn_late_history() as l;
  v_advice := case when cardinality(v_behind) > 0 then 'call lenses.sp_purge_history();' end;
  v_oldest := case when p_facts #>> '{job,jobid}' <> ''
    then nullif(p_facts ->> 'oldest_job_run', '')::timestamptz end;
  if v_oldest < v_now - v_settings.ticks_retention - interval '1 day' then
    v_behind := v_behind || format(
      'rows of cron.job_run_details from %s', to_char(v_oldest, 'YYYY-MM-DD'));
    v_advice := concat_ws(' ', v_advice, format(
      'delete from cron.job_run_details where jobid = %s and start_time < now() - %L::interval;',
      p_facts #>> '{job,jobid}', v_settings.ticks_retention
    ));
  end if;
  check_name := 'retention';
  state := case cardinality(v_behind) when 0 then 'ok' else 'bad' end;
  label := case state when 'ok' then 'ok' else 'behind' end;
  detail := case state when 'ok' then format('history of %s',
      lenses.fn_interval_period((extract(epoch from v_settings.retention) * 1000)::bigint))
    else 'past their retention: ' || array_to_string(v_behind, ', ') end;
  advice := v_advice || ' -- nightly, the purge jobs or lf-sql worker do so: see why they did not';
  return next;

  if (p_facts #>> '{oldest_snapshot,age}')::numeric > 3600 then
    check_name := 'old snapshot';
    state := 'warn';
    label := lenses.fn_health_age(
      make_interval(secs => (p_facts #>> '{oldest_snapshot,age}')::float8));
    detail := format(
      'process %s%s holds a snapshot since then; dead rows cannot be removed and ticks grow slower',
      p_facts #>> '{oldest_snapshot,pid}',
      coalesce(' (' || nullif(p_facts #>> '{oldest_snapshot,application_name}', '') || ')', '')
    );
    advice := format('select pg_terminate_backend(%s);', p_facts #>> '{oldest_snapshot,pid}');
    return next;
  end if;
end;
$$;

comment on function lenses.fn_health_work(jsonb) is
  'Lines about the work: backlog, stuck runs, waiting runs, quota, approvals, skips, retention. '
  'p_facts as in lenses.fn_health.';
