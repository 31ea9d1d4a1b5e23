-- For the owner: marks what a project made, so that the project may remove it again. It writes no
-- column that a tick, a trigger or a version looks at.
create or replace function public.fn_set_project(
  p_project text,
  p_calendar_ids uuid[] default '{}',
  p_workflow_ids uuid[] default '{}',
  p_schedule_ids uuid[] default '{}'
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_project constant text := btrim(p_project);
  v_count integer;
  v_all integer := 0;
begin
  if char_length(v_project) not between 1 and 200 or v_project ~ '[[:cntrl:]]' then
    raise exception using
      errcode = '22023',
      column = 'project',
      message = format(
        'project must be 1 to 200 characters on one line, not "%s"', left(v_project, 60)
      ),
      hint = 'For example "shop", or NULL for none.';
  end if;
  update lenses.schedule_calendars as c
  set project = v_project
  from (
    select m.id
    from lenses.schedule_calendars as m
    where m.id = any (p_calendar_ids) and m.lenser_id = v_lenser_id
      and m.project is distinct from v_project
    order by m.id
    for no key update
  ) as q
  where c.id = q.id;
  get diagnostics v_count = row_count;
  v_all := v_all + v_count;
  update lenses.workflows as w
  set project = v_project
  from (
    select m.id
    from lenses.workflows as m
    where m.id = any (p_workflow_ids) and m.lenser_id = v_lenser_id
      and m.project is distinct from v_project
    order by m.id
    for no key update
  ) as q
  where w.id = q.id;
  get diagnostics v_count = row_count;
  v_all := v_all + v_count;
  update lenses.workflow_schedules as s
  set project = v_project
  from (
    select m.id
    from lenses.workflow_schedules as m
    where m.id = any (p_schedule_ids) and m.lenser_id = v_lenser_id
      and m.project is distinct from v_project
    order by m.id
    for no key update
  ) as q
  where s.id = q.id;
  get diagnostics v_count = row_count;
  return v_all + v_count;
end;
$$;

comment on function public.fn_set_project(text, uuid[], uuid[], uuid[]) is
  'Notes that the calendars, workflows and schedules of the caller were made by the project '
  'p_project (1 to 200 characters; NULL: by none); ids that are not the caller''s are ignored. '
  'Returns how many changed. 22023: bad name; 42501: no caller.';
