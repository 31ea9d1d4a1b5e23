-- Reads a span of time that JSON gives as text, and checks it against two bounds.
create or replace function lenses.fn_setting_interval(
  p_text text,
  p_name text,
  p_min interval,
  p_max interval
)
returns interval
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set intervalstyle = 'postgres'
as $$
declare
  v_span interval;
begin
  begin
    v_span := p_text::interval;
  exception when invalid_datetime_format or datetime_field_overflow or interval_field_overflow then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s is not a span of time: "%s"', p_name, left(p_text, 60)),
      hint = 'Write it as "2m", "1d 2h", "90 days" or "PT2M".';
  end;
  if v_span not between p_min and p_max then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s is out of range: "%s"', p_name, left(p_text, 60)),
      hint = format('Allowed: %s to %s.', p_min, p_max);
  end if;
  return v_span;
end;
$$;

comment on function lenses.fn_setting_interval(text, text, interval, interval) is
  'p_text as an interval between p_min and p_max; NULL for NULL, else 22023 naming p_name.';
