-- owner: lf_sql_engine
-- For executors (service_role): adds an event of the executor's own, numbered within the run like
-- the transitions, whose names (run.*) it cannot use. A team run gets the event too.
create or replace function lenses.fn_append_run_event(
  p_run_id uuid,
  p_worker_id text,
  p_event_type text,
  p_payload jsonb,
  p_attempt integer default null
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id uuid;
  v_seq integer;
begin
  if p_event_type is null or p_event_type !~ '^[a-z][a-z0-9_.]{0,199}$'
    or p_event_type ~ '^(run|team_run|approval)[._]'
  then
    raise exception using
      errcode = '22023',
      column = 'event_type',
      message = format(
        'p_event_type is not an event of an executor: %s',
        coalesce('"' || left(p_event_type, 60) || '"', 'NULL')
      ),
      hint = 'Use lower-case words joined by dots, such as node.failed; run.*, team_run.* and '
        'approval* are written by the database.';
  end if;
  perform lenses.fn_check_json(p_payload, 'p_payload', 65536, 32, 10000);

  update lenses.workflow_runs as r
  set last_event_seq = r.last_event_seq + 1
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now() and r.attempt = coalesce(p_attempt, r.attempt)
  returning r.lenser_id, r.last_event_seq into v_lenser_id, v_seq;
  if not found then
    return false;
  end if;
  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  values (v_lenser_id, p_run_id, v_seq, p_event_type, coalesce(p_payload, '{}'));
  insert into agents.agent_run_events (lenser_id, team_run_id, run_id, event_type, payload)
  select t.lenser_id, t.id, p_run_id, p_event_type, coalesce(p_payload, '{}')
  from agents.team_runs as t
  where t.workflow_run_id = p_run_id;
  return true;
end;
$$;

comment on function lenses.fn_append_run_event(uuid, text, text, jsonb, integer) is
  'Appends an event of the executor (node.failed with {"cause": …}, for example) to a run that '
  'it holds: p_event_type in lower-case words joined by dots, p_payload at most 64 KB. False, '
  'and nothing written, where the lease is lost or the run is over. p_attempt, from the claim, '
  'is a fence: where the run is at another attempt the result is false too; NULL is the one that '
  'p_worker_id holds now. 22023: an event name that is reserved or malformed, or a payload that '
  'is too large.';
