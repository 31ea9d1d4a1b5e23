-- The attempts of a run of the caller's, oldest first, from its events: each begins with
-- run.started and ends with the transition that follows; one that is under way has no end. The
-- newest 100.
create or replace function lenses.fn_run_attempts(p_run_id uuid)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
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
  order by e.seq desc
  limit 100
) as a
left join lateral (
  select n.occurred_at, n.event_type, n.payload
  from lenses.workflow_run_events as n
  where n.run_id = p_run_id and n.seq > a.seq and n.event_type like 'run.%'
  order by n.seq
  limit 1
) as z on true
$$;
