-- For the owner only; service_role may not call it.
create or replace function public.fn_decide_workflow_run(
  p_run_id uuid,
  p_decision text,
  p_note text default null
)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lensers.fn_hold_lenser();
  perform lenses.fn_require_run(p_run_id);
  return lenses.fn_decide_run(p_run_id, p_decision, p_note);
end;
$$;

comment on function public.fn_decide_workflow_run(uuid, text, text) is
  'Decides the caller''s run that waits for approval: p_decision approved makes it pending, '
  'rejected cancelled; p_note (at most 2000 characters) is kept with the decision. Returns the '
  'run. A later change of the run''s inputs, version or model asks again. 22023: another word, or '
  'the run does not wait (any more); 42501: not the caller''s, or unknown.';
