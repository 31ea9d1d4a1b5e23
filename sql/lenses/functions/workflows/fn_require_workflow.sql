-- For the RPCs: the caller's own workflow, or the one refusal that a stranger's id and an unknown
-- id share, byte for byte.
create or replace function lenses.fn_require_workflow(p_workflow_id uuid)
returns lenses.workflows
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_row lenses.workflows;
begin
  select w.* into v_row
  from lenses.workflows as w
  where w.id = p_workflow_id and w.lenser_id = v_lenser_id;
  if not found then
    raise exception using
      errcode = '42501',
      message = 'there is no such workflow of yours',
      hint = 'public.fn_get_workflows() lists yours.';
  end if;
  return v_row;
end;
$$;

comment on function lenses.fn_require_workflow(uuid) is
  'The caller''s workflow of that id; 42501 for any other id.';
