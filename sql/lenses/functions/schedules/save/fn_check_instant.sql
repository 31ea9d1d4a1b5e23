-- Raises 22023 where an instant lies outside the years 1970 to 9999. NULL passes, and so does the
-- row's old value (p_old), so that a row of an old version can still be edited.
create or replace function lenses.fn_check_instant(
  p_value timestamptz,
  p_name text,
  p_old timestamptz default null
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_value not between timestamptz '1970-01-01 00:00:00+00'
    and timestamptz '9999-12-31 23:59:59.999999+00'
    and p_value is distinct from p_old
  then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format(
        '%s must be an instant of the years 1970 to 9999, not "%s"', p_name, p_value
      ),
      hint = 'Give a time such as 2026-05-01T09:00:00Z, or NULL for none.';
  end if;
end;
$$;

comment on function lenses.fn_check_instant(timestamptz, text, timestamptz) is
  '22023 where p_value lies outside the years 1970 to 9999 and is not p_old.';
