-- For the owner.
create or replace function public.fn_workflow_get_schedules(p_workflow_id uuid default null)
returns setof lenses.workflow_schedules
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  if p_workflow_id is not null then
    perform lenses.fn_require_workflow(p_workflow_id);
  end if;
  return query
  select s.*
  from lenses.workflow_schedules as s
  where s.lenser_id = v_lenser_id and (p_workflow_id is null or s.workflow_id = p_workflow_id)
  order by s.created_at, s.id;
end;
$$;

comment on function public.fn_workflow_get_schedules(uuid) is
  'The caller''s schedules, oldest first: those of one workflow, or all (NULL). 42501: the '
  'workflow is not the caller''s, or unknown.';
