-- The zones of this server, so that saving a schedule need not scan pg_timezone_names.
insert into lenses.timezones (name)
select z.name
from pg_catalog.pg_timezone_names as z
where z.name !~ '^(posix|right)/' and z.name not in ('localtime', 'posixrules', 'Factory')
on conflict do nothing;
