-- What people call a schedule: its name, else its description, else its workflow's title. All texts
-- for people call this; ids are for commands. plpgsql: lists call it for every row.
create or replace function lenses.fn_schedule_label(p_name text, p_description text, p_title text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    nullif(btrim(p_name), ''), nullif(btrim(p_description), ''), nullif(btrim(p_title), ''),
    'schedule without a name');
end;
$$;
