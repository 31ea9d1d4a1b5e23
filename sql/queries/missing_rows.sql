-- Tables without rows that cannot be missing: they were lost with a dump that row security emptied.
-- Some rows every lf-sql has; tenants there must be where something was logged about them, which
-- the sequences of the logs tell, since no policy hides a sequence.
select w.name
from (
  select 'lenses.dispatch_settings' as name, pg_catalog.count(*) as found
  from lenses.dispatch_settings
  union all
  select 'lenses.timezones', pg_catalog.count(*) from lenses.timezones
  union all
  select 'lenses.schedule_calendars', pg_catalog.count(*) from lenses.schedule_calendars as c
  where c.is_seed
  union all
  select 'lensers.profiles', (select pg_catalog.count(*) from lensers.profiles)
  from pg_catalog.unnest(array['lenses.workflow_run_events', 'agents.action_logs']) as t (name)
  where pg_catalog.pg_sequence_last_value(
    pg_catalog.pg_get_serial_sequence(t.name, 'id')::pg_catalog.regclass
  ) is not null
) as w
where w.found = 0
group by w.name
order by w.name;
