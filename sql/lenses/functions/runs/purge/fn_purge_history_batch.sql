-- owner: lf_sql_engine
-- Deletes at most about p_limit rows a table of what is older than its retention, and returns how
-- many; 0 means that nothing is left. Internal: the procedure lenses.sp_purge_history commits
-- between batches, and drops the partitions of events and logs; of these only what lies in the
-- default partitions goes here. A run that is over goes with its events, one in flight stays
-- however old it is. It goes tenant by tenant, by the indexes that begin with the tenant, oldest
-- first; rows that are locked stay for now. Events and logs of tenants who were deleted go as
-- well, so their tenants are read from the index, value by value, not from lensers.profiles. Runs
-- of a tenant whose departure may still be taken back stay.
create or replace function lenses.fn_purge_history_batch(p_now timestamptz, p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  -- what is younger stays, however its retention is written; the audit's guard asks the real clock
  c_least constant interval := '31 days';
  v_evidence_before constant timestamptz := least(p_now, now()) - c_least;
  v_before timestamptz;
  v_events_before timestamptz;
  v_logs_before timestamptz;
  v_ticks_before timestamptz;
  v_run_ids uuid[];
  v_count integer;
  v_total integer := 0;
begin
  select
    least(p_now - d.retention, p_now - c_least),
    least(p_now - coalesce(d.events_retention, d.retention), v_evidence_before),
    least(p_now - coalesce(d.logs_retention, d.retention), v_evidence_before),
    p_now - d.ticks_retention
  into v_before, v_events_before, v_logs_before, v_ticks_before
  from lenses.dispatch_settings as d;

  v_run_ids := array(
    select o.id
    from lensers.profiles as p
    cross join lateral (
      select r.id
      from lenses.workflow_runs as r
      where r.lenser_id = p.id and r.created_at < v_before
        and r.status in ('completed', 'failed', 'cancelled', 'timed_out')
        and r.completed_at < v_before
      order by r.created_at
      limit p_limit
      for update skip locked
    ) as o
    where p.departed_at is null or p.departure_settled_at is not null
    limit greatest(p_limit / 5, 1));
  if cardinality(v_run_ids) > 0 then
    delete from lenses.workflow_run_events_default as e
    where e.run_id = any (v_run_ids) and e.occurred_at < v_events_before;
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
    delete from lenses.workflow_runs as r where r.id = any (v_run_ids);
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
  else
    -- What is left is of runs that went before their events, or stay after them.
    with recursive tenants (id) as (
      (
        select x.lenser_id
        from lenses.workflow_run_events_default as x
        order by x.lenser_id
        limit 1
      )
      union all
      select (
        select x.lenser_id from lenses.workflow_run_events_default as x
        where x.lenser_id > t.id
        order by x.lenser_id
        limit 1)
      from tenants as t
      where t.id is not null
    )
    delete from lenses.workflow_run_events_default as e
    where (e.run_id, e.seq) in (
      select o.run_id, o.seq
      from tenants as t
      cross join lateral (
        select x.run_id, x.seq
        from lenses.workflow_run_events_default as x
        where x.lenser_id = t.id and x.occurred_at < v_events_before
          and not exists (
            select from lenses.workflow_runs as r
            where r.id = x.run_id and (
              v_events_before <= v_before
              or r.status not in ('completed', 'failed', 'cancelled', 'timed_out')
              or r.completed_at >= v_events_before))
        limit p_limit
      ) as o
      limit p_limit);
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
  end if;

  with recursive tenants (id) as (
    (
      select x.lenser_id
      from agents.agent_run_events_default as x
      order by x.lenser_id
      limit 1
    )
    union all
    select (
      select x.lenser_id from agents.agent_run_events_default as x
      where x.lenser_id > t.id
      order by x.lenser_id
      limit 1)
    from tenants as t
    where t.id is not null
  )
  delete from agents.agent_run_events_default as e
  where e.id in (
    select o.id
    from tenants as t
    cross join lateral (
      select x.id
      from agents.agent_run_events_default as x
      where x.lenser_id = t.id and x.occurred_at < v_events_before
      order by x.occurred_at
      limit p_limit
    ) as o
    limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  with recursive tenants (id) as (
    (
      select x.lenser_id
      from agents.action_logs_default as x
      order by x.lenser_id
      limit 1
    )
    union all
    select (
      select x.lenser_id from agents.action_logs_default as x
      where x.lenser_id > t.id
      order by x.lenser_id
      limit 1)
    from tenants as t
    where t.id is not null
  )
  delete from agents.action_logs_default as l
  where l.id in (
    select o.id
    from tenants as t
    cross join lateral (
      select x.id
      from agents.action_logs_default as x
      where x.lenser_id = t.id and x.occurred_at < v_logs_before
      order by x.occurred_at
      limit p_limit
    ) as o
    limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from agents.approval_attempts as a
  where (a.run_id, a.minute) in (
    select x.run_id, x.minute from agents.approval_attempts as x
    where x.minute < v_logs_before
    limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from agents.gateway_cron_runs as g
  where g.id in (
    select o.id
    from lensers.profiles as p
    cross join lateral (
      select x.id
      from agents.gateway_cron_runs as x
      where x.lenser_id = p.id and x.created_at < v_before
        and x.status not in ('pending', 'running')
      limit p_limit
    ) as o
    where p.departed_at is null or p.departure_settled_at is not null
    limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from lenses.outbox as o
  where o.id in (
    select x.id from lenses.outbox as x where x.created_at < v_before limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from lenses.dispatch_ticks as t
  where t.id in (
    select x.id from lenses.dispatch_ticks as x
    where x.started_at < v_ticks_before
    order by x.started_at
    limit p_limit);
  get diagnostics v_count = row_count;
  return v_total + v_count + lenses.fn_purge_run_counts(p_limit)
    + lenses.fn_purge_departed(v_before, p_limit);
end;
$$;
