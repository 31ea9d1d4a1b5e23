-- The pause that a Retry-After header asks for, a day at most; NULL where there is none that can be
-- read. It has whole seconds, or an HTTP date in any of its three forms (RFC 9110, 5.6.7). Two
-- digits of a year mean one that is no more than 50 years ahead.
create or replace function lenses.fn_retry_after(p_headers jsonb, p_now timestamptz)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_months constant text[] := array[
    'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  c_day constant text := '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
  c_whole_day constant text := '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
  c_month constant text := format('(%s)', array_to_string(c_months, '|'));
  c_time constant text := '((?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60))';
  c_latest constant integer := extract(year from p_now at time zone 'UTC') + 50;
  v_text text;
  v_date text[];
  v_year integer;
begin
  if jsonb_typeof(p_headers) <> 'object' then
    return null;
  end if;
  v_text := (
    select btrim(h.value, E' \t') from jsonb_each_text(p_headers) as h
    where lower(h.key) = 'retry-after' limit 1);
  if v_text ~ '^[0-9]+$' then
    return least(('0' || left(ltrim(v_text, '0'), 9))::integer, 86400) * interval '1 second';
  end if;
  v_date := coalesce(
    regexp_match(v_text,
      format('^%s, ([0-9]{2}) %s ([0-9]{4}) %s GMT$', c_day, c_month, c_time)),
    regexp_match(v_text,
      format('^%s, ([0-9]{2})-%s-([0-9]{2}) %s GMT$', c_whole_day, c_month, c_time)),
    (
      select array[m[2], m[1], m[4], m[3]]
      from regexp_match(v_text,
        format('^%s %s ([ 0-9][0-9]) %s ([0-9]{4})$', c_day, c_month, c_time)) as m
      where m is not null));
  if v_date is null then
    return null;
  end if;
  v_year := v_date[3]::integer;
  if length(v_date[3]) = 2 then
    v_year := c_latest - mod(c_latest - v_year, 100);
  end if;
  return least(
    greatest(
      (make_date(v_year, array_position(c_months, v_date[2]), v_date[1]::integer)
        + v_date[4]::time) at time zone 'UTC' - p_now,
      interval '0'),
    interval '1 day');
exception when data_exception then
  return null;
end;
$$;

comment on function lenses.fn_retry_after(jsonb, timestamptz) is
  'How long the header Retry-After of an answer asks to wait, from p_now on: at most a day; NULL '
  'where it says nothing.';
