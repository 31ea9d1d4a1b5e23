-- Reads a span of time that JSON gives as text, and checks it against two bounds, as intervals
-- compare and by what it comes to before a date: months of either sign count as 30 days when
-- compared, and as what they are when they are taken from an instant.
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
  c_at constant timestamp := '2001-02-01';
  v_span interval;
  v_is_within boolean;
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
  begin
    v_is_within := v_span between p_min and p_max
      and c_at - v_span between c_at - p_max and c_at - p_min;
  exception when datetime_field_overflow then
    v_is_within := false;
  end;
  if not v_is_within then
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
