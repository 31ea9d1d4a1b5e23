-- Seconds since 1970 of an ISO-8601 instant, or NULL for any other text; never an error, and the
-- same under every TimeZone and DateStyle. An instant is a whole date-time with a zone: YYYY-MM-DD,
-- T, hh:mm, optional :ss with an optional fraction, then Z, or + or - and hh, hhmm or hh:mm; at
-- most 64 characters. A date alone, a local time and 24:00 are not instants. The leap second :60 is
-- the first second of the next minute.
create or replace function automation.fn_instant(p_text text)
returns numeric
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest text;
  v_zone_at int;
  v_zone text;
  v_year int;
  v_month int;
  v_day int;
  v_hour int;
  v_minute int;
  v_second numeric;
  v_zone_hour int;
  v_zone_minute int;
begin
  if length(p_text) not between 17 and 64
    or p_text !~ (
      '^[0-9]{4}-[0-9][0-9]-[0-9][0-9][Tt][0-9][0-9]:[0-9][0-9]'
      '(:[0-9][0-9]([.,][0-9]+)?)?([Zz]|[+-][0-9][0-9](:?[0-9][0-9])?)$'
    )
  then
    return null;
  end if;
  v_rest := substr(p_text, 17);
  v_zone_at := strpos(translate(v_rest, 'Zz-', '+++'), '+');
  v_zone := translate(substr(v_rest, v_zone_at), 'Zz:', '');
  v_year := substr(p_text, 1, 4)::int;
  v_month := substr(p_text, 6, 2)::int;
  v_day := substr(p_text, 9, 2)::int;
  v_hour := substr(p_text, 12, 2)::int;
  v_minute := substr(p_text, 15, 2)::int;
  v_second := coalesce(
    nullif(translate(substr(v_rest, 2, greatest(v_zone_at - 2, 0)), ',', '.'), ''), '0'
  )::numeric;
  v_zone_hour := coalesce(nullif(substr(v_zone, 2, 2), ''), '0')::int;
  v_zone_minute := coalesce(nullif(substr(v_zone, 4, 2), ''), '0')::int;
  if v_year < 1 or v_month not between 1 and 12 or v_day < 1
    or v_day > 31 or v_day > 30 and v_month in (4, 6, 9, 11)
    or v_day > 29 and v_month = 2
    or v_day > 28 and v_month = 2 and (v_year % 4 <> 0 or v_year % 100 = 0 and v_year % 400 <> 0)
    or v_hour > 23 or v_minute > 59 or v_second >= 61 or v_zone_hour > 23 or v_zone_minute > 59
  then
    return null;
  end if;
  return (make_date(v_year, v_month, v_day) - date '1970-01-01')::numeric * 86400
    + v_hour * 3600 + v_minute * 60 + v_second
    - (v_zone_hour * 3600 + v_zone_minute * 60) * case left(v_zone, 1) when '-' then -1 else 1 end;
end;
$$;

comment on function automation.fn_instant(text) is
  'Seconds since 1970-01-01T00:00:00Z of an ISO-8601 date-time with Z or an offset, exactly; NULL '
  'for any other text. Never raises.';
