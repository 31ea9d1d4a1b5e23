-- What there is of pg_cron here: one row. Its settings are real only where the library is
-- preloaded; written into postgresql.conf without it they are placeholders, and no postmaster's.
-- Who may not read all settings does not see them (NULL); that the extension is here then says
-- enough, since it can only be created where pg_cron lives.
select
  exists (select 1 from pg_catalog.pg_available_extensions as a
    where a.name = 'pg_cron') as is_available,
  e.oid is not null as is_created,
  coalesce(pg_catalog.has_schema_privilege(n.oid, 'usage'), false) as may_use,
  (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user) as is_superuser,
  pg_catalog.current_database()::text as database_name,
  current_user::text as user_name,
  pg_catalog.current_setting('server_version_num')::integer / 10000 as server_major,
  (
    select s.setting from pg_catalog.pg_settings as s
    where s.name = 'cron.database_name' and s.context = 'postmaster'
  ) as cron_database,
  (select s.setting from pg_catalog.pg_settings as s
    where s.name = 'cron.use_background_workers') as uses_workers,
  (select s.setting from pg_catalog.pg_settings as s where s.name = 'cron.host') as cron_host,
  pg_catalog.current_setting('listen_addresses') as listen_addresses,
  pg_catalog.pg_has_role('pg_read_all_settings', 'usage') as sees_settings,
  pg_catalog.current_setting('port')::integer as port
from pg_catalog.pg_database as d
left join pg_catalog.pg_extension as e on e.extname = 'pg_cron'
left join pg_catalog.pg_namespace as n on n.nspname = 'cron' and e.oid is not null
where d.datname = pg_catalog.current_database();
