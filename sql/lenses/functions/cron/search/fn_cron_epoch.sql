-- The minute of 1970-01-01 00:00, counted as the cron search counts. How that is, for all of cron/:
--
-- Minutes are counted from midnight of the Julian day 0, in UTC or on a wall clock. 1440 of them
-- are a day: minute / 1440 is the Julian day, minute % 1440 the minute of that day. date 'J0' + day
-- is the date, and (day + 1) % 7 the weekday, where 0 is Sunday. Offsets from UTC lie within 16
-- hours (960 minutes). Two and three days (2880, 4320) are less than the time between two changes
-- of a zone's clock.
--
-- Fields are masks. The lowest bit stands for the first value: minute 0, hour 0, the 1st, January,
-- Sunday. All minutes are (1 << 60) - 1, all hours (1 << 24) - 1, all days (1 << 31) - 1, all
-- months (1 << 12) - 1, all weekdays 127. lenses.fn_cron_parse_field alone counts days and months
-- from bit 1. The lowest bit of a mask is mask & -mask, its place the logarithm of that to base 2,
-- as in lenses.fn_cron_low_bit. lenses.fn_cron_six_weeks repeats a mask of weekdays.
--
-- The planner puts the value in place of a call without arguments, so naming it costs nothing.
create or replace function lenses.fn_cron_epoch()
returns bigint
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select 3514446720
$$;
