-- For the owner. Without an id it creates a workflow; an id must be the caller's. The workflow and
-- the schedules of its triggers change together or not at all.
create or replace function public.fn_upsert_workflow(
  p_workflow_id uuid default null,
  p_title text default null,
  p_definition jsonb default null,
  p_kind text default 'workflow',
  p_status text default 'active'
)
returns lenses.workflows
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_definition constant jsonb := nullif(p_definition, 'null');
  v_old lenses.workflows;
  v_row lenses.workflows;
begin
  if p_workflow_id is null then
    insert into lenses.workflows as w (lenser_id, title, definition, kind, status)
    values (
      v_lenser_id, coalesce(p_title, ''), coalesce(v_definition, '{"nodes":[],"edges":[]}'),
      coalesce(p_kind, 'workflow'), coalesce(p_status, 'active')
    )
    returning w.* into v_row;
  else
    select w.* into v_old
    from lenses.workflows as w
    where w.id = p_workflow_id and w.lenser_id = v_lenser_id
    for no key update;
    if not found then
      return lenses.fn_require_workflow(p_workflow_id);
    end if;
    update lenses.workflows as w
    set title = coalesce(p_title, w.title),
      definition = coalesce(v_definition, w.definition),
      kind = coalesce(p_kind, w.kind),
      status = coalesce(p_status, w.status)
    where w.id = p_workflow_id and w.lenser_id = v_lenser_id
    returning w.* into v_row;
  end if;

  if v_row.status <> 'deleted' and (v_definition is not null or v_old.status = 'deleted') then
    perform lenses.fn_sync_workflow_triggers(v_row, v_old.definition);
  end if;
  return lenses.fn_require_workflow(v_row.id);
end;
$$;

comment on function public.fn_upsert_workflow(uuid, text, jsonb, text, text) is
  'Creates a workflow of the caller, or changes the caller''s p_workflow_id: NULL keeps. p_kind '
  'workflow or battle; p_status active, paused, deprecated or deleted (its schedules go). A '
  'p_definition {"nodes","edges","triggers"} that differs is a new version; its schedule_based '
  'triggers become schedules, one an id, changed and deleted with their entries. Returns the '
  'row. 22023: bad input, cycle_detected; 42501: not the caller''s; 53400: too many schedules.';
