-- L, W and # in the two day fields, single slots, and slots that move off closed dates. Stored rows
-- are not rewritten: an attribute that a row was written without reads as NULL, which means that
-- there is no such thing.
--   last_days     bit 30 - n is L-n: the day n days before the last, as it stands in a month of 31
--   near_days     bit n - 1 is nW, bit 31 is LW
--   nth_weekdays  bit 7 * (k - 1) + d is d#k, bit 35 + d is dL
-- day_rule 4 and 5 are 2 and 3 with such items; beyond 7 the slots are not the expression's alone:
--   8             one slot, run_at
--   16 + rule     slots on closed dates of calendar_id move to the next open one; 32 + rule: to the
--                 last one before
alter type lenses.cron_spec add attribute last_days integer;
alter type lenses.cron_spec add attribute near_days bigint;
alter type lenses.cron_spec add attribute nth_weekdays bigint;
alter type lenses.cron_spec add attribute run_at timestamptz;
alter type lenses.cron_spec add attribute calendar_id uuid;

comment on type lenses.cron_spec is
  'A parsed cron expression, made by lenses.fn_cron_parse: bit masks of the five fields, the rule '
  'that joins the two day fields, how the schedule behaves where the clock is turned, the day '
  'items L, W and #, a single slot, and the calendar that moves slots.';
