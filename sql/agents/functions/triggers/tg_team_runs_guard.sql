-- owner: lf_sql_engine
-- For every role but lf_sql_engine: only public.fn_decide_workflow_run, expiry or cancelling the
-- run decides an approval. An inserted row gets the status of its run. Any other status, and any
-- update of the decision, is recorded and has no effect.
create or replace function agents.tg_team_runs_guard()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run lenses.workflow_runs;
  v_team_run_id uuid;
begin
  if tg_op = 'UPDATE' then
    select r.* into v_run from lenses.workflow_runs as r where r.id = old.workflow_run_id;
    perform lenses.fn_record_bypass(v_run, old.id, format(
      'update of the approval from %s to %s', old.approval_status, left(new.approval_status, 60)));
    return old;
  end if;

  select r.* into v_run from lenses.workflow_runs as r where r.id = new.workflow_run_id;
  if not found then
    return new;
  end if;
  new.lenser_id := coalesce(new.lenser_id, v_run.lenser_id);
  new.team_id := coalesce(new.team_id, v_run.team_id);
  new.ai_lenser_id := coalesce(new.ai_lenser_id, v_run.ai_lenser_id);
  select t.id into v_team_run_id from agents.team_runs as t where t.workflow_run_id = v_run.id;
  if new.approval_status
    not in ('pending', case when v_run.needs_approval then 'pending' else 'not_required' end)
    or (new.decided_by, new.decided_at) is distinct from (null, null)
  then
    perform lenses.fn_record_bypass(v_run, coalesce(v_team_run_id, new.id), format(
      'insert of an approval as %s', left(new.approval_status, 60)));
    if v_team_run_id is not null then
      return null;
    end if;
  end if;
  new.approval_status := case when v_run.needs_approval then 'pending' else 'not_required' end;
  new.decided_by := null;
  new.decided_at := null;
  return new;
end;
$$;
