-- One message for a name that is taken, without the row's keys that a constraint would show.
create or replace function lenses.fn_refuse_calendar_name(p_name text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '23505',
    message = format('there is a calendar named "%s" already', left(btrim(p_name), 200)),
    hint = 'Names are unique to a tenant, and capitals count; choose another, or update that one.';
end;
$$;

comment on function lenses.fn_refuse_calendar_name(text) is
  'Raises 23505: the name is taken.';
