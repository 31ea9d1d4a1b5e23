-- For the RPCs: the caller's own run, or the one refusal that a stranger's id and an unknown id
-- share.
create or replace function lenses.fn_require_run(p_run_id uuid)
returns lenses.workflow_runs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_row lenses.workflow_runs;
begin
  select r.* into v_row
  from lenses.workflow_runs as r
  where r.id = p_run_id and r.lenser_id = v_lenser_id;
  if not found then
    perform lenses.fn_refuse_run();
  end if;
  return v_row;
end;
$$;

comment on function lenses.fn_require_run(uuid) is
  'The caller''s run of that id; 42501 for any other id.';
