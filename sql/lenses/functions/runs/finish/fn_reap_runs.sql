-- owner: lf_sql_engine
-- By p_now: a running run whose lease has expired fails with cause timeout, and a waiting run whose
-- approval has expired becomes timed_out. Handles p_limit of each at most, the first ones of each
-- tenant first; returns how many, and goes on with the next call. It never waits: rows that are
-- locked are left for the next call, so the tick may hold other locks. It goes run by run, because
-- each has its own policies and one that cannot be reaped must not keep the others.
create or replace function lenses.fn_reap_runs(p_now timestamptz, p_limit integer default 1000)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_run lenses.workflow_runs;
  v_reaped integer := 0;
begin
  -- Usually there is nothing, and one look into each index costs less than the queries.
  if not exists (
    select from lenses.workflow_runs as r
    where r.status = 'running' and r.lease_expires_at <= p_now
  ) and not exists (
    select from lenses.workflow_runs as r
    where r.status = 'pending_approval' and r.approval_expires_at <= p_now
  ) then
    return 0;
  end if;
  for v_run in
    with late as materialized (
      select q.id, q.schedule_id
      from (
        select
          o.*, row_number() over (partition by o.lenser_id order by o.lease_expires_at) as turn
        from (
          select r.id, r.schedule_id, r.lenser_id, r.lease_expires_at
          from lenses.workflow_runs as r
          where r.status = 'running' and r.lease_expires_at <= p_now
          order by r.lease_expires_at
          limit p_limit * 50
        ) as o
      ) as q
      order by q.turn, q.lease_expires_at
      limit p_limit
    ),

    held as materialized (
      select s.id
      from lenses.workflow_schedules as s
      inner join lenses.schedule_due as d on d.schedule_id = s.id
      where s.id in (select l.schedule_id from late as l)
      for no key update of s, d skip locked
    )

    select r.*
    from lenses.workflow_runs as r
    where r.id in (
      select l.id from late as l
      where l.schedule_id is null or l.schedule_id in (select h.id from held as h)
    )
      and r.status = 'running' and r.lease_expires_at <= p_now
    for no key update skip locked
  loop
    begin
      perform lenses.fn_fail_attempt(
        v_run, 'timeout',
        format('the lease of worker "%s" expired at %s', v_run.worker_id, v_run.lease_expires_at),
        'timed_out', p_now);
      v_reaped := v_reaped + 1;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: run % is not reaped: % %', v_run.id, sqlstate, sqlerrm;
    end;
  end loop;

  for v_run in
    with late as materialized (
      select q.id, q.schedule_id
      from (
        select
          o.*, row_number() over (partition by o.lenser_id order by o.approval_expires_at) as turn
        from (
          select r.id, r.schedule_id, r.lenser_id, r.approval_expires_at
          from lenses.workflow_runs as r
          where r.status = 'pending_approval' and r.approval_expires_at <= p_now
          order by r.approval_expires_at
          limit p_limit * 50
        ) as o
      ) as q
      order by q.turn, q.approval_expires_at
      limit p_limit
    ),

    held as materialized (
      select s.id
      from lenses.workflow_schedules as s
      inner join lenses.schedule_due as d on d.schedule_id = s.id
      where s.id in (select l.schedule_id from late as l)
      for no key update of s, d skip locked
    ),

    locked as materialized (
      select r.id
      from lenses.workflow_runs as r
      where r.id in (
        select l.id from late as l
        where l.schedule_id is null or l.schedule_id in (select h.id from held as h)
      )
        and r.status = 'pending_approval' and r.approval_expires_at <= p_now
      for no key update skip locked
    )

    select r.* from lenses.workflow_runs as r where r.id in (select k.id from locked as k)
  loop
    begin
      update lenses.workflow_runs as r
      set status = 'timed_out', completed_at = p_now,
        metadata = r.metadata || jsonb_build_object('result', lenses.fn_run_result(
          'timed_out', 'approval_expired', 'nobody decided before '
            || to_char(r.approval_expires_at, 'YYYY-MM-DD HH24:MI UTC')))
      where r.id = v_run.id;
      v_reaped := v_reaped + 1;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: run % is not timed out: % %', v_run.id, sqlstate, sqlerrm;
    end;
  end loop;
  return v_reaped;
end;
$$;
