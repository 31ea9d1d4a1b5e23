-- Easter Sunday of a year, as a date of the Gregorian calendar: by the Gregorian reckoning, or by
-- the Julian one that Orthodox churches keep. Source: the computus of Meeus, Jones and Butcher, and
-- Meeus's for the Julian calendar; the two calendars lie y / 100 - y / 400 - 2 days apart.
create or replace function lenses.fn_easter(p_year integer, p_is_orthodox boolean default false)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_golden integer := p_year % 19;
  v_century integer := p_year / 100;
  v_moon integer;
  v_weekday integer;
  v_late integer;
begin
  if p_is_orthodox then
    v_moon := (19 * v_golden + 15) % 30;
    v_weekday := (2 * (p_year % 4) + 4 * (p_year % 7) - v_moon + 34) % 7;
    return make_date(p_year, 3, 22) + v_moon + v_weekday + (v_century - v_century / 4 - 2);
  end if;
  v_moon := (19 * v_golden + v_century - v_century / 4
    - (v_century - (v_century + 8) / 25 + 1) / 3 + 15) % 30;
  v_weekday := (32 + 2 * (v_century % 4) + 2 * (p_year % 100 / 4) - v_moon - p_year % 4) % 7;
  v_late := (v_golden + 11 * v_moon + 22 * v_weekday) / 451;
  return make_date(p_year, 3, 22) + v_moon + v_weekday - 7 * v_late;
end;
$$;
