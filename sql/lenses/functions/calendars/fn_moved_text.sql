-- owner: lf_sql_engine
-- Where a moved slot came from, as lenses.fn_moved_texts says it; NULL for one that did not move.
create or replace function lenses.fn_moved_text(
  p_schedule lenses.workflow_schedules,
  p_slot timestamptz
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select t.moved_from from lenses.fn_moved_texts(p_schedule, array[p_slot]) as t);
end;
$$;
