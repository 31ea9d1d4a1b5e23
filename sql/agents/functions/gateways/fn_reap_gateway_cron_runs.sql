-- owner: lf_sql_engine
-- Runs whose lease has expired become timed_out, p_limit at most, each lenser's first ones first.
-- Locks the crons, then their runs, the other way round than claims and completions do; it may,
-- since it waits for neither: what is held is passed over, and the next tick comes for it.
create or replace function agents.fn_reap_gateway_cron_runs(
  p_now timestamptz,
  p_limit integer default 1000
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_ids uuid[];
  v_cron_ids uuid[];
  v_reaped integer;
begin
  v_run_ids := array(
    select q.id
    from (
      select o.id, o.lease_expires_at,
        row_number() over (partition by o.lenser_id order by o.lease_expires_at) as turn
      from (
        select r.id, r.lenser_id, r.lease_expires_at
        from agents.gateway_cron_runs r
        where r.status = 'running' and r.lease_expires_at <= p_now
        order by r.lease_expires_at
        limit p_limit * 50
      ) o
    ) q
    order by q.turn, q.lease_expires_at
    limit p_limit);

  select array_agg(l.id) into v_cron_ids
  from (
    select c.id
    from agents.gateway_crons c
    where c.id in (
      select r.gateway_cron_id from agents.gateway_cron_runs r where r.id = any (v_run_ids)
    )
    for no key update skip locked
  ) l;

  with expired as (
    select r.id
    from agents.gateway_cron_runs r
    where r.id = any (v_run_ids) and r.status = 'running' and r.lease_expires_at <= p_now
      and (r.gateway_cron_id is null or r.gateway_cron_id = any (v_cron_ids))
    for no key update skip locked
  )
  update agents.gateway_cron_runs r
  set status = 'timed_out', completed_at = p_now,
    error = format('the lease of worker "%s" expired', r.worker_id)
  from expired e
  where r.id = e.id;
  get diagnostics v_reaped = row_count;
  return v_reaped;
end;
$$;

comment on function agents.fn_reap_gateway_cron_runs(timestamptz, integer) is
  'Sets running gateway cron runs whose lease expired at or before p_now to timed_out, '
  'p_limit at most; returns how many.';
