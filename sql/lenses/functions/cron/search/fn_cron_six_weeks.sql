-- Multiplying a mask of weekdays by this repeats the week six times: bits 0, 7, 14, 21, 28 and 35.
-- Shifted right by the weekday of a month's first day it is a mask of the month's days. See
-- lenses.fn_cron_epoch for how masks count, and why naming this costs nothing.
create or replace function lenses.fn_cron_six_weeks()
returns bigint
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select 34630287489
$$;
