-- Reads a time that JSON gives as text. PostgreSQL's own input accepts words such as now and
-- tomorrow and raises errors of other classes, so only dates are accepted and errors become 22023.
-- A time without a zone is UTC.
create or replace function lenses.fn_instant_of(p_text text, p_name text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
begin
  if p_text is null then
    return null;
  elsif p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]{1,20} ?(Z|[+-][0-9:]{1,8})?)?$' then
    return p_text::timestamptz;
  end if;
  raise exception using
    errcode = '22007',
    message = 'not of the form';
exception
  when invalid_datetime_format or datetime_field_overflow or invalid_parameter_value
    or invalid_time_zone_displacement_value then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s is not an instant: "%s"', p_name, left(p_text, 60)),
      hint = 'Write it as 2026-05-01T09:00:00Z, or with an offset such as +02:00.';
end;
$$;

comment on function lenses.fn_instant_of(text, text) is
  'p_text (YYYY-MM-DD, optionally T or a blank, a time, and Z or an offset; UTC where it has '
  'none) as timestamptz; NULL for NULL, 22023 naming p_name for anything else.';
