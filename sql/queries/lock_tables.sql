-- The first step of every install: locks all our tables and views at once, in one order (partitions
-- with their tables, since a day's may be dropped meanwhile), so that no
-- later step waits while it holds what others want. First it takes the installers' lock, which
-- keeps new ticks and claims from beginning (lenses.fn_admit_work), and a lock that only
-- maintenance conflicts with, to which autovacuum gives way. When the work under way has ended it
-- locks out everybody, and gives up after less than a second: so users behind it never wait longer,
-- and it is gone before any deadlock check runs.
set local lock_timeout = '5s';

do $lock$
declare
  v_tables constant text := (
    select string_agg(c.oid::regclass::text, ', ' order by n.nspname, c.relname)
    from pg_catalog.pg_class as c
    inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v') and not c.relispartition
      and n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
  );
begin
  if not pg_catalog.pg_try_advisory_xact_lock(1818653553, 1) then
    raise exception using
      errcode = '55P03',
      message = 'another installer is at work',
      hint = 'Wait for it, then start again.';
  end if;
  if v_tables is not null then
    execute 'lock table ' || v_tables || ' in share update exclusive mode';
  end if;
  for v_try in 1 .. 100 loop
    exit when pg_catalog.pg_try_advisory_xact_lock(1818653553, 2);
    perform pg_catalog.pg_sleep(0.1);
  end loop;
end;
$lock$;

set local statement_timeout = '900ms';

do $lock$
declare
  v_tables constant text := (
    select string_agg(c.oid::regclass::text, ', ' order by n.nspname, c.relname)
    from pg_catalog.pg_class as c
    inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v') and not c.relispartition
      and n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
  );
begin
  if v_tables is not null then
    execute 'lock table ' || v_tables || ' in access exclusive mode';
  end if;
end;
$lock$;

set local statement_timeout = 0;

set local lock_timeout = '1s';
