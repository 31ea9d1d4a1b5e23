-- The parsed form of a cron expression, stored with the schedule. Sets are bit masks; the rest
-- is what a search would otherwise work out again at each call.
--   minutes       bit m is minute m
--   hours         bit h is hour h
--   days          bit d - 1 is day d of the month
--   months        bit m - 1 is month m
--   weekdays      bit 0 is Sunday, bit 6 Saturday
--   first_minute  the earliest minute of a day that matches, counted from midnight
--   day_rule      0 every day, 1 weekdays alone decide, 2 days and weekdays both, 3 either of them
--                 (2 and 3 within months)
--   is_real_time  the minute or the hour field begins with *: skipped hours are lost and repeated
--                 ones come twice; otherwise each wall-clock minute comes exactly once
create type lenses.cron_spec as (
  minutes bigint,
  hours integer,
  days integer,
  months integer,
  weekdays integer,
  first_minute integer,
  day_rule integer,
  is_real_time boolean
);

comment on type lenses.cron_spec is
  'A parsed cron expression, made by lenses.fn_cron_parse: bit masks of the five fields, the rule '
  'that joins the two day fields, and how the schedule behaves where the clock is turned.';
