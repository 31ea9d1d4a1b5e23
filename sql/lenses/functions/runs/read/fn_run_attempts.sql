-- The attempts of a run of the caller's, oldest first, from its events: each begins with
-- run.started and ends with the transition that follows. An attempt under way has no end. The
-- newest 100. The run's events lie in p_from to p_until: so each query is planned for the days of
-- that time alone.
create or replace function lenses.fn_run_attempts(
  p_run_id uuid,
  p_from timestamptz,
  p_until timestamptz
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'attempt', a.payload -> 'attempt',
      'worker_id', a.payload -> 'worker_id',
      'started_at', a.occurred_at,
      'ended_at', z.occurred_at,
      'outcome', case z.event_type
        when 'run.retried' then 'failed' when 'run.reassigned' then 'failed'
        else substr(z.event_type, 5) end,
      'cause', z.payload -> 'cause',
      'error', z.payload -> 'error') order by a.seq), '[]')
    from (
      select e.seq, e.occurred_at, e.payload
      from lenses.workflow_run_events as e
      where e.run_id = p_run_id and e.event_type = 'run.started'
        and e.occurred_at between p_from and p_until
      order by e.seq desc
      limit 100
    ) as a
    left join lateral (
      select n.occurred_at, n.event_type, n.payload
      from lenses.workflow_run_events as n
      where n.run_id = p_run_id and n.seq > a.seq and n.event_type like 'run.%'
        and n.occurred_at between p_from and p_until
      order by n.seq
      limit 1
    ) as z on true);
end;
$$;
