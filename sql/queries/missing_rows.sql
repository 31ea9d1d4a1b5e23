-- Tables without rows that must have some: row security emptied the dump that they came from. Some
-- rows exist in every install. Tenants must exist where something was logged about them; the
-- sequences of the logs tell that, since no policy hides a sequence.
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
