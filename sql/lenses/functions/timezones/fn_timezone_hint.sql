-- What a text that is not an IANA zone name was probably meant to be, for the error's hint.
create or replace function lenses.fn_timezone_hint(p_timezone text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := upper(left(btrim(p_timezone, E' /\t\r\n'), 64) collate "C");
  v_bare text := regexp_replace(v_text, '^(POSIX|RIGHT)/', '');
  v_offset text[] := regexp_match(v_text, '^(?:UTC|GMT|Z)? ?([+-])0?([0-9]{1,2})(?::?00)?$');
  v_place text := regexp_replace(split_part(v_bare, '/', -1), '[ -]', '_', 'g');
  v_likely text;
begin
  v_likely := case
    when v_text in ('PST', 'PDT', 'PT', 'PACIFIC') then 'America/Los_Angeles'
    when v_text in ('MDT', 'MT', 'MOUNTAIN') then 'America/Denver'
    when v_text in ('CDT', 'CST', 'CT', 'CENTRAL') then
      'America/Chicago (or Asia/Shanghai for China)'
    when v_text in ('EDT', 'ET', 'EASTERN') then 'America/New_York'
    when v_text in ('AKST', 'AKDT') then 'America/Anchorage'
    when v_text in ('BST') then 'Europe/London'
    when v_text in ('CEST', 'MEZ', 'MESZ') then 'Europe/Berlin'
    when v_text in ('EEST') then 'Europe/Athens'
    when v_text in ('WEST') then 'Europe/Lisbon'
    when v_text in ('MSK') then 'Europe/Moscow'
    when v_text in ('TRT') then 'Europe/Istanbul'
    when v_text in ('IST') then
      'Asia/Kolkata for India, Europe/Dublin for Ireland or Asia/Jerusalem for Israel'
    when v_text in ('SGT') then 'Asia/Singapore'
    when v_text in ('HKT') then 'Asia/Hong_Kong'
    when v_text in ('JST') then 'Asia/Tokyo'
    when v_text in ('KST') then 'Asia/Seoul'
    when v_text in ('AEST', 'AEDT') then 'Australia/Sydney'
    when v_text in ('ACST', 'ACDT') then 'Australia/Adelaide'
    when v_text in ('AWST') then 'Australia/Perth'
    when v_text in ('NZST', 'NZDT') then 'Pacific/Auckland'
    when v_text in ('BRT', 'BRST') then 'America/Sao_Paulo'
    when v_text in ('Z', 'GMT+00:00', 'UTC+0', 'UTC0', '+00:00', '-00:00', '0', '00', 'UTCZ') then
      'UTC'
    when v_offset is not null and v_offset[2]::integer between 1 and 14 then
      format(
        'the zone of a place, or Etc/GMT%s%s (with the sign reversed) for a fixed offset of %s%s '
        'hours', translate(v_offset[1], '+-', '-+'), v_offset[2], v_offset[1], v_offset[2]
      )
  end;
  if v_likely is null and length(v_place) > 2 then
    select string_agg(near.name, ' or ' order by near.name) into v_likely
      from (
        select zone.name
          from pg_timezone_names as zone
          where zone.name !~ '^(posix|right)/'
            and zone.name <> all ('{localtime,posixrules,Factory}'::text[])
            and (
              upper(split_part(zone.name, '/', -1) collate "C") = v_place
              or upper(zone.name collate "C") = v_bare
            )
          order by zone.name
          limit 3
      ) as near;
  end if;
  if v_likely is null and v_bare ~ '^[A-Z]+/[A-Z_]{4,}$' then
    -- a slip of the keyboard: same area, same letters
    select string_agg(near.name, ' or ' order by near.name) into v_likely
      from (
        select zone.name
          from pg_timezone_names as zone
          where upper(split_part(zone.name, '/', 1) collate "C") = split_part(v_bare, '/', 1)
            and left(upper(split_part(zone.name, '/', 2) collate "C"), 3)
              = left(split_part(v_bare, '/', 2), 3)
          order by abs(length(zone.name) - length(v_bare)), zone.name
          limit 3
      ) as near;
  end if;
  return coalesce(
    'Write ' || v_likely || '.',
    'Choose a name with: select name from pg_timezone_names where name like ''%/%''.'
  );
end;
$$;
