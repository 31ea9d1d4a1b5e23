-- squawk-ignore-file ban-drop-constraint, constraint-missing-not-valid
-- Calendars by rule: dates that never run out, beside the listed ones.
alter table lenses.schedule_calendars add column rules jsonb not null default '[]';

alter table lenses.schedule_calendars drop constraint schedule_calendars_dates_check;
alter table lenses.schedule_calendars add constraint schedule_calendars_dates_check
  check (cardinality(dates) <= 10000 and array_position(dates, null) is null);
alter table lenses.schedule_calendars add constraint schedule_calendars_rules_check
  check (jsonb_typeof(rules) = 'array' and octet_length(rules::text) <= 16384);

comment on column lenses.schedule_calendars.dates is 'Up to 10,000 dates, kept sorted and distinct.';
comment on column lenses.schedule_calendars.rules is 'Rules that name further dates: {"weekdays"}, {"month_day","observed"}, {"nth"}, {"easter"}, {"orthodox_easter"} or {"calendar"}, each with optional "from", "until" and "except".';

drop function if exists public.fn_create_schedule_calendar(text, text, text, date[], uuid);
drop function if exists public.fn_update_schedule_calendar(uuid, text, text, text, date[]);
