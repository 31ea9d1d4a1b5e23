-- owner: lf_sql_engine
-- Writes what belongs to every new run, by whatever path it came: its first event and, where it
-- waits for approval or goes to a team, its team run with a first event of its own. Set-wise,
-- because a tick inserts thousands. Runs of a tenant that arrives bring theirs along. The team
-- run's id is agents.fn_team_run_id, written out because a call for each row would cost more.
create or replace function lenses.tg_workflow_runs_record()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if exists (
    select from lensers.profiles as p
    where p.departed_at is not null and p.id in (select n.lenser_id from new_runs as n)
  ) then
    return null;
  end if;
  insert into lenses.workflow_run_events (
    lenser_id, run_id, seq, event_type, payload, occurred_at
  )
  select
    n.lenser_id, n.id, 1, 'run.created',
    jsonb_build_object(
      'status', n.status, 'trigger_mode', n.trigger_mode, 'scheduled_for', n.scheduled_for),
    n.created_at
  from new_runs as n;

  with made as (
    insert into agents.team_runs (
      id, lenser_id, workflow_run_id, team_id, ai_lenser_id, approval_status, created_at
    )
    select
      encode(substr(sha256(convert_to('team_run:' || n.id, 'UTF8')), 1, 16), 'hex')::uuid,
      n.lenser_id, n.id, n.team_id, n.ai_lenser_id,
      case when n.needs_approval then 'pending' else 'not_required' end,
      n.created_at
    from new_runs as n
    where n.needs_approval or n.team_id is not null
    returning id, lenser_id, workflow_run_id, approval_status, created_at
  )

  insert into agents.agent_run_events (
    lenser_id, team_run_id, run_id, event_type, payload, occurred_at
  )
  select
    m.lenser_id, m.id, m.workflow_run_id, 'team_run.created',
    jsonb_build_object('approval_status', m.approval_status), m.created_at
  from made as m;

  if lenses.fn_wants_event('approval.waiting') then
    perform lenses.fn_emit_events('approval.waiting', w.events, w.at)
    from (
      select
        jsonb_agg(jsonb_build_object(
          'lenser_id', n.lenser_id, 'workflow_id', n.workflow_id, 'schedule_id', n.schedule_id,
          'run_id', n.id, 'data', jsonb_build_object(
            'scheduled_for', n.scheduled_for, 'trigger_mode', n.trigger_mode,
            'approval_expires_at', n.approval_expires_at))
          order by n.scheduled_for, n.id) as events,
        max(n.created_at) as at
      from new_runs as n
      where n.status = 'pending_approval'
    ) as w
    where w.events is not null;
  end if;
  return null;
end;
$$;
