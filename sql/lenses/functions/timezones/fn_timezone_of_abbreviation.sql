-- Seven IANA names that PostgreSQL reads as abbreviations, with a fixed offset that depends on the
-- session's settings: returns the zones that they stand for, and any other name unchanged.
create or replace function lenses.fn_timezone_of_abbreviation(p_timezone text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_timezone
    when 'UTC' then 'Etc/UTC'
    when 'GMT' then 'Etc/GMT'
    when 'UCT' then 'Etc/UCT'
    when 'CET' then 'Europe/Brussels'
    when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens'
    when 'WET' then 'Europe/Lisbon'
    when 'EST' then 'America/Panama'
    when 'MST' then 'America/Phoenix'
    when 'HST' then 'Pacific/Honolulu'
    else p_timezone
  end;
end;
$$;
