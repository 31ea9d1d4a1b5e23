-- Raises the error for a name that is taken. A constraint would show the row's keys.
create or replace function lenses.fn_refuse_calendar_name(p_name text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '23505',
    column = 'name',
    message = format('there is a calendar named "%s" already', left(btrim(p_name), 200)),
    hint = 'Names are unique to a tenant, and capitals count; choose another, or update that one.';
end;
$$;

comment on function lenses.fn_refuse_calendar_name(text) is
  'Raises 23505: the name is taken.';
