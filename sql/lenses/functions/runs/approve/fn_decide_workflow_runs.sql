-- owner: lf_sql_engine
-- For public.fn_decide_workflow_runs. It determines the caller itself. It locks schedules in the
-- order of their ids, as every such call does, so that two of them never deadlock. A run that no
-- longer waits is left out and does not stop the others.
create or replace function lenses.fn_decide_workflow_runs(
  p_run_ids uuid[],
  p_decision text,
  p_note text default null
)
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
  v_run lenses.workflow_runs;
begin
  perform lensers.fn_hold_lenser();
  perform lenses.fn_check_decision(p_decision, p_note);
  perform lenses.fn_check_run_ids(p_run_ids);
  perform lenses.fn_require_run(u.id) from unnest(p_run_ids) as u (id);
  for v_id in
    select r.id
    from lenses.workflow_runs as r
    where r.id = any (p_run_ids)
    order by r.schedule_id, r.id
  loop
    v_run := lenses.fn_lock_run(v_id);
    if v_run.status = 'pending_approval' and coalesce(v_run.approval_expires_at > now(), true) then
      perform lenses.fn_decide_run(v_id, p_decision, p_note);
      return next v_id;
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_decide_workflow_runs(uuid[], text, text) is
  'As lenses.fn_decide_run, for at most 1000 runs of the caller at once; gives back the ids that '
  'were decided, without those that do not wait any more. 42501: one of them is not the '
  'caller''s, or unknown, and none is decided.';
