-- For the owner. Deleted workflows are left out; their rows stay because runs refer to them.
create or replace function public.fn_get_workflows()
returns setof lenses.workflows
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  return query
  select w.*
  from lenses.workflows as w
  where w.lenser_id = v_lenser_id and w.status <> 'deleted'
  order by w.created_at, w.id;
end;
$$;

comment on function public.fn_get_workflows() is
  'The caller''s workflows that are not deleted, oldest first. 42501: no caller.';
