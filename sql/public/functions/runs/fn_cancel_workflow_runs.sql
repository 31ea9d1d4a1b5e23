-- For the owner of the runs, and for service_role, who may cancel any.
create or replace function public.fn_cancel_workflow_runs(p_run_ids uuid[])
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_is_operator() then
    perform lensers.fn_hold_lenser();
    perform lenses.fn_check_run_ids(p_run_ids);
    perform lenses.fn_require_run(u.id) from unnest(p_run_ids) as u (id);
  end if;
  return query select lenses.fn_cancel_workflow_runs(p_run_ids);
end;
$$;

comment on function public.fn_cancel_workflow_runs(uuid[]) is
  'Cancels at most 1000 of the caller''s runs (service_role: any runs), as fn_cancel_workflow_run '
  'does one. Returns the ids that were cancelled; one that is over is left out and stops no '
  'other. 22023: NULL among the ids, or too many; 42501: one of them is not the caller''s, or '
  'unknown, and none is cancelled.';
