-- What only the connected role can see of the server, for lenses.fn_health: one jsonb. It names no
-- relation of pg_cron's, so it is parsed where the extension is missing. What the role may not see
-- is null, and no fault.
with settings as (
  select
    pg_catalog.max(p.setting) filter (where p.name = 'cron.database_name') as cron_database,
    pg_catalog.max(p.setting) filter (where p.name = 'cron.host') as host,
    pg_catalog.max(p.setting) filter (where p.name = 'cron.use_background_workers') as uses_workers,
    pg_catalog.count(*) > 0 as is_listed
  from pg_catalog.pg_settings as p
  where p.name like 'cron.%' and p.context <> 'user'
),

launcher as (
  select pg_catalog.count(*) > 0 as is_running
  from pg_catalog.pg_stat_activity as a
  where a.application_name = 'pg_cron scheduler' or a.backend_type = 'pg_cron launcher'
),

available as (
  select pg_catalog.count(*) > 0 as is_available
  from pg_catalog.pg_available_extensions as v
  where v.name = 'pg_cron'
),

oldest as (
  select pg_catalog.jsonb_build_object(
    'pid', a.pid,
    'application_name', a.application_name,
    'age', pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - a.xact_start)
  ) as snapshot
  from pg_catalog.pg_stat_activity as a
  where a.backend_xmin is not null and a.backend_type = 'client backend'
    and a.pid <> pg_catalog.pg_backend_pid()
  order by a.xact_start
  limit 1
)

select
  pg_catalog.jsonb_build_object(
    'database', pg_catalog.current_database(),
    'pg_cron', pg_catalog.jsonb_build_object(
      'is_available', v.is_available,
      'is_installed', e.oid is not null,
      'version', e.extversion,
      'can_read', case
        when e.oid is not null
          and pg_catalog.has_schema_privilege(pg_catalog.to_regnamespace('cron'), 'usage')
          then pg_catalog.has_table_privilege(pg_catalog.to_regclass('cron.job'), 'select')
          and pg_catalog.has_table_privilege(
            pg_catalog.to_regclass('cron.job_run_details'), 'select')
      end,
      'is_preloaded', case
        when s.is_listed or l.is_running then true
        when pg_catalog.pg_has_role('pg_read_all_settings', 'usage') then false
      end,
      'cron_database', s.cron_database,
      'host', s.host,
      'uses_workers', s.uses_workers,
      'port', pg_catalog.current_setting('port'),
      'has_launcher', case
        when l.is_running then true
        when pg_catalog.pg_has_role('pg_read_all_stats', 'usage') then false
      end
    ),
    'oldest_snapshot', o.snapshot
  ) as facts
from settings as s
cross join launcher as l
cross join available as v
left join oldest as o on true
left join pg_catalog.pg_extension as e on e.extname = 'pg_cron';
