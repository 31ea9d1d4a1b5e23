-- squawk-ignore-file constraint-missing-not-valid
-- Spans of time in the settings, by what they come to before a date: intervals compare months of
-- either sign as 30 days, so that '36031 days -1200 months' passed for more than 31 days and lay in
-- the future. What passed so far and does not any more goes back to its default.
update lenses.dispatch_settings as d
set retention = default
where timestamp '2001-02-01' - d.retention > timestamp '2001-02-01' - interval '31 days';
update lenses.dispatch_settings as d
set events_retention = null
where timestamp '2001-02-01' - d.events_retention > timestamp '2001-02-01' - interval '31 days';
update lenses.dispatch_settings as d
set logs_retention = null
where timestamp '2001-02-01' - d.logs_retention > timestamp '2001-02-01' - interval '31 days';
update lenses.dispatch_settings as d
set ticks_retention = default
where timestamp '2001-02-01' - d.ticks_retention > timestamp '2001-02-01' - interval '1 hour';
update lenses.dispatch_settings as d
set missed_grace = default
where timestamp '2001-02-01' - d.missed_grace
  not between timestamp '2001-02-01' - interval '1 day' and timestamp '2001-02-01';

alter table lenses.dispatch_settings
  add constraint dispatch_settings_spans_check check (
    timestamp '2001-02-01' - retention <= timestamp '2001-02-01' - interval '31 days'
    and timestamp '2001-02-01' - coalesce(events_retention, retention)
      <= timestamp '2001-02-01' - interval '31 days'
    and timestamp '2001-02-01' - coalesce(logs_retention, retention)
      <= timestamp '2001-02-01' - interval '31 days'
    and timestamp '2001-02-01' - ticks_retention <= timestamp '2001-02-01' - interval '1 hour'
    and timestamp '2001-02-01' - missed_grace
      between timestamp '2001-02-01' - interval '1 day' and timestamp '2001-02-01');
