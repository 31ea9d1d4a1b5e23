-- For the owner of the run, and for service_role, who may cancel any.
create or replace function public.fn_cancel_workflow_run(p_run_id uuid)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_is_operator() then
    perform lensers.fn_hold_lenser();
    perform lenses.fn_require_run(p_run_id);
  end if;
  return lenses.fn_cancel_workflow_run(p_run_id);
end;
$$;

comment on function public.fn_cancel_workflow_run(uuid) is
  'Cancels a run of the caller that is in flight (service_role: any run); a waiting one has its '
  'team run rejected. False, and nothing changed, where it is over. 42501: not the caller''s, or '
  'unknown.';
