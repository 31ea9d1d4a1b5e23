-- Raises 22023 unless p_timezone is, letter for letter, an IANA zone name that the server knows.
-- PostgreSQL itself would accept much more: POSIX strings with the opposite sign (UTC+8), any
-- abbreviation, any spelling, posix/ and right/ copies. Well-known names cost microseconds, all
-- others one look at pg_timezone_names.
create or replace function lenses.fn_check_timezone(p_timezone text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
begin
  if p_timezone = 'UTC' then
    return;
  elsif lenses.fn_is_iana_timezone(p_timezone) then
    -- a server with an older database raises 22023 here
    perform timezone(p_timezone, timestamptz '2000-01-01 00:00:00+00');
    return;
  end if;

  if p_timezone ~ '^[A-Za-z][A-Za-z0-9_+/-]{1,62}$' then
    select zone.name into v_name
      from pg_timezone_names as zone
      where lower(zone.name collate "C") = lower(p_timezone collate "C")
        and zone.name !~ '^(posix|right)/'
        and zone.name <> all ('{localtime,posixrules,Factory}'::text[])
      order by zone.name = p_timezone desc
      limit 1;
    if v_name = p_timezone then
      return;
    end if;
  end if;
  raise exception using
    errcode = '22023',
    column = 'timezone',
    message = case
      when p_timezone is null then 'invalid time zone: it is missing (null)'
      else format('invalid time zone %s', lenses.fn_cron_quote(p_timezone, 100))
    end,
    detail = 'Only IANA names such as Europe/Berlin or UTC are taken, spelt as in '
      'pg_timezone_names; no abbreviations, offsets or POSIX strings.',
    hint = case
      when v_name is not null then format('Write %s.', v_name)
      else lenses.fn_timezone_hint(p_timezone)
    end;
end;
$$;

comment on function lenses.fn_check_timezone(text) is
  'Raises 22023, naming the value and the likely right one, unless p_timezone is an IANA zone name '
  'that the server knows, in its exact spelling.';
