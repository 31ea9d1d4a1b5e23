-- For the owner. A run's events lie between its creation and its end, but for clocks that were
-- moved: where not all are found there, within a day, every day is asked.
create or replace function public.fn_get_run(p_run_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set plan_cache_mode = force_custom_plan
as $$
declare
  v_run constant lenses.workflow_runs := lenses.fn_require_run(p_run_id);
  v_from timestamptz := v_run.created_at - interval '1 day';
  v_until timestamptz := coalesce(v_run.completed_at + interval '1 day', 'infinity');
  v_count bigint;
begin
  select count(*) into v_count
  from lenses.workflow_run_events as e
  where e.run_id = v_run.id and e.occurred_at between v_from and v_until;
  if v_count <> v_run.last_event_seq then
    v_from := '-infinity';
    v_until := 'infinity';
    select count(*) into v_count from lenses.workflow_run_events as e where e.run_id = v_run.id;
  end if;
  return to_jsonb(v_run) || jsonb_build_object(
    'workflow', (select w.title from lenses.workflows as w where w.id = v_run.workflow_id),
    'newest_version', (select w.version from lenses.workflows as w where w.id = v_run.workflow_id),
    'schedule', (
      select coalesce(s.name, s.description)
      from lenses.workflow_schedules as s
      where s.id = v_run.schedule_id),
    'assignee', coalesce(
      (select a.name from agents.ai_lensers as a where a.id = v_run.ai_lenser_id),
      (select t.name from agents.teams as t where t.id = v_run.team_id)),
    'inputs', v_run.context_inputs,
    'result', v_run.metadata -> 'result',
    'cause', coalesce(
      v_run.metadata #> '{result,cause}', v_run.metadata #> '{last_failure,cause}'),
    'error', coalesce(
      v_run.metadata #> '{result,error}', v_run.metadata #> '{last_failure,error}'),
    'approval', (
      select to_jsonb(t) from agents.team_runs as t where t.workflow_run_id = v_run.id),
    'next_try_at', case when v_run.status = 'pending' then v_run.available_at end,
    'attempts', lenses.fn_run_attempts(v_run.id, v_from, v_until),
    'event_count', v_count,
    'events', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'at', e.occurred_at, 'event', e.event_type, 'payload', e.payload) order by e.seq), '[]')
      from (
        select n.seq, n.occurred_at, n.event_type, n.payload
        from lenses.workflow_run_events as n
        where n.run_id = v_run.id and n.occurred_at between v_from and v_until
        order by n.seq desc
        limit 1000
      ) as e));
end;
$$;

comment on function public.fn_get_run(uuid) is
  'The caller''s run: the columns of lenses.workflow_runs, and workflow (title), newest_version '
  '(of the workflow; the run''s own is workflow_version), schedule (name, else description), '
  'assignee (name), inputs, result, cause and error (of the newest attempt that failed), approval '
  '(its row of agents.team_runs, or null), next_try_at (NULL: at once, or none comes), attempts '
  '(an array of attempt, worker_id, started_at, ended_at, outcome, cause, error), events (the '
  'newest 1000, oldest first: at, event, payload) and event_count. 42501: not the caller''s, or '
  'unknown.';
