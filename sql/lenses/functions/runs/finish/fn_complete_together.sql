-- owner: lf_sql_engine
-- For lenses.fn_complete_workflow_runs: writes all these results with one statement for each table,
-- as lenses.fn_complete_workflow_run writes each. Raises where any result is refused or a run is
-- named twice; the caller then takes them one at a time. It locks schedules first, by id, then
-- runs, by schedule and id, as all code that ends runs does. Where a schedule has several results
-- the last one stands.
create or replace function lenses.fn_complete_together(p_worker_id text, p_results jsonb)
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_run_ids uuid[];
  v_attempts integer[];
  v_spent numeric[];
  v_results jsonb[];
  v_done_ids uuid[];
  v_waiting_ids uuid[];
begin
  select
    array_agg((e.value ->> 'run_id')::uuid order by e.ord),
    array_agg((e.value ->> 'attempt')::integer order by e.ord),
    array_agg((e.value ->> 'spent_credits')::numeric order by e.ord),
    array_agg(e.value -> 'result' order by e.ord)
  into v_run_ids, v_attempts, v_spent, v_results
  from jsonb_array_elements(p_results) with ordinality as e (value, ord);
  if (
    select count(*) <> count(distinct u.run_id)
      or bool_or(u.spent < 0 or round(u.spent, 4) >= 100000000000000)
    from unnest(v_run_ids, v_spent) as u (run_id, spent)
  ) then
    raise exception using
      errcode = '22023',
      message = 'these results must be taken one at a time';
  end if;
  perform lenses.fn_check_json(u.result, 'p_result', 1048576, 64, 50000)
  from unnest(v_results) as u (result)
  -- as lenses.fn_complete_workflow_run does
  where pg_column_size(u.result) > 40 or octet_length(u.result::text) > 40;

  perform from lenses.workflow_schedules as s
  where s.id in (
    select r.schedule_id
    from unnest(v_run_ids) as u (run_id)
    inner join lenses.workflow_runs as r on r.id = u.run_id)
  order by s.id
  for no key update;
  perform from lenses.workflow_runs as r
  where r.id = any (v_run_ids) and r.status || '' = 'running' and r.worker_id = p_worker_id
  order by r.schedule_id, r.id
  for no key update;

  with completed as (
    update lenses.workflow_runs as r
    set status = 'completed', completed_at = now(), lease_expires_at = null,
      spent_credits = r.spent_credits + coalesce(u.spent, 0),
      metadata = r.metadata || jsonb_build_object('result', u.result),
      last_event_seq = r.last_event_seq + 1
    from unnest(v_run_ids, v_attempts, v_spent, v_results) as u (run_id, attempt, spent, result)
    where r.id = u.run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
      and r.lease_expires_at > now() and r.attempt = coalesce(u.attempt, r.attempt)
    returning r.id, r.lenser_id, r.schedule_id, r.last_event_seq, r.attempt, u.result
  ),

  recorded as (
    insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
    select
      c.lenser_id, c.id, c.last_event_seq, 'run.completed', jsonb_build_object(
        'from', 'running', 'status', 'completed', 'attempt', c.attempt, 'worker_id', p_worker_id)
    from completed as c
  ),

  told as (
    update lenses.workflow_schedules as s
    set last_completed_at = now(), last_result = coalesce(n.result, 'null')
    from (
      select distinct on (c.schedule_id) c.schedule_id, c.result
      from completed as c
      where c.schedule_id is not null
      order by c.schedule_id, c.id desc
    ) as n
    where s.id = n.schedule_id
    returning case when s.is_deferred and s.is_active then s.id end as waiting_id
  )

  select
    (select array_agg(c.id order by c.schedule_id, c.id) from completed as c),
    (select array_agg(t.waiting_id order by t.waiting_id) from told as t
      where t.waiting_id is not null)
  into v_done_ids, v_waiting_ids;

  perform lenses.fn_wake_schedule(w.id, now()) from unnest(v_waiting_ids) as w (id);
  return query select d.id from unnest(v_done_ids) as d (id);
end;
$$;
