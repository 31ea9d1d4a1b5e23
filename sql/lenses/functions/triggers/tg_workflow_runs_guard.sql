-- owner: lf_sql_engine
-- The state machine of a run, for every role. tg_argv[0] says who changes the row, engine or other,
-- as the trigger's WHEN clause saw the caller; here current_user is the owner. A change that would
-- start a run without its owner leaves the row as it was and is recorded; any other illegal change
-- raises 22023. It also writes the event and what else follows: the row is locked, and no other
-- trigger of ours comes after.
create or replace function lenses.tg_workflow_runs_guard()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_attempt text;
  v_team_run agents.team_runs;
begin
  if old *= new then  -- byte for byte: as jsonb, 2 equals 2.0
    return new;
  end if;
  if tg_argv[0] <> 'engine' then
    v_attempt := lenses.fn_run_bypass(old, new);
  end if;

  if v_attempt is null and tg_argv[0] <> 'engine' then
    perform lenses.fn_check_run_change(old, new);
    if (new.context_inputs, new.workflow_version, new.global_model_id)
      is distinct from (old.context_inputs, old.workflow_version, old.global_model_id) then
      if new.workflow_version <> old.workflow_version then
        new.needs_approval := old.needs_approval or lenses.fn_run_needs_approval(
          new.workflow_id, new.workflow_version, new.schedule_id,
          new.policies -> 'approval_policy');
      end if;
      if new.needs_approval and new.status = 'pending' then
        new.status := 'pending_approval';
      end if;
    end if;
  end if;

  if v_attempt is null and new.status <> old.status then
    if new.status <> all (lenses.fn_run_next_states(old.status)) then
      raise exception using
        errcode = '22023',
        column = 'status',
        message = format(
          'run "%s" cannot go from "%s" to "%s"', old.id, old.status, left(new.status, 60)
        ),
        hint = coalesce(
          'Allowed from there: '
          || nullif(array_to_string(lenses.fn_run_next_states(old.status), ', '), '') || '.',
          'It is over; lenses.fn_retry_workflow_run starts one that failed once more.');
    end if;
    if new.needs_approval and new.status in ('pending', 'running') and not exists (
      select from agents.team_runs as t
      where t.workflow_run_id = old.id and t.approval_status = 'approved'
    ) then
      v_attempt := format('update from %s to %s', old.status, new.status);
    end if;
  end if;

  if v_attempt is not null then
    select t.* into v_team_run from agents.team_runs as t where t.workflow_run_id = old.id;
    perform lenses.fn_record_bypass(old, v_team_run.id, v_attempt);
    return old;
  end if;
  if new.status = old.status then
    return new;
  end if;

  new.last_event_seq := old.last_event_seq + 1;
  if new.status = 'running' then
    if new.worker_id is null or new.lease_expires_at is null then
      raise exception using
        errcode = '22023',
        column = 'status',
        message = format(
          'run "%s" cannot be running without worker_id and lease_expires_at', old.id
        ),
        hint = 'lenses.fn_claim_workflow_runs sets both.';
    end if;
    if new.attempt = old.attempt then
      new.attempt := old.attempt + 1;
    end if;
    if new.started_at is not distinct from old.started_at then
      new.started_at := now();
    end if;
  else
    new.lease_expires_at := null;
  end if;
  if new.status in ('pending', 'pending_approval') then
    new.worker_id := null;
  end if;
  if new.status = 'pending_approval' then
    new.needs_approval := true;
    new.approval_expires_at := now()
      + (new.policies #>> '{approval_policy,expiresAfterMs}')::numeric::bigint
        * interval '1 millisecond';
  elsif new.status not in ('pending', 'running') then
    new.completed_at := coalesce(new.completed_at, now());
    if not new.metadata ? 'result' and new.status <> 'completed' then
      new.metadata := new.metadata || jsonb_build_object('result', lenses.fn_run_result(
        new.status, case when new.status = 'timed_out' then 'timeout' else new.status end, null));
    end if;
  end if;
  perform lenses.fn_follow_run(old, new, tg_argv[0] = 'engine');
  return new;
end;
$$;
