-- The first step of every install: all tables and views of ours at once, in one order, so that
-- nothing which comes later waits while it holds what others want. First the installers' lock,
-- which keeps new ticks and claims from beginning (lenses.fn_admit_work), and a lock against
-- maintenance alone, to which autovacuum gives way; then, when what was under way has ended,
-- against everybody, given up after less than a second: a user who stands behind us stands no
-- longer, and we are gone before anybody's deadlock check looks.
set local lock_timeout = '5s';

do $lock$
declare
  v_tables constant text := (
    select string_agg(c.oid::regclass::text, ', ' order by n.nspname, c.relname)
    from pg_catalog.pg_class as c
    inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v')
      and n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
  );
begin
  if not pg_catalog.pg_try_advisory_xact_lock(1818653553, 1) then
    raise exception using
      errcode = '55P03',
      message = 'another installer is at work',
      hint = 'Wait for it, and begin anew.';
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
    where c.relkind in ('r', 'p', 'v')
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
