-- owner: lf_sql_engine
-- Asked by ticks and claims before they write. True: an upgrade waits for the caller's transaction.
-- False: one is under way, so come back in a moment; what its locks would block, or make wait for
-- each other, is not begun. Two advisory locks, of the installer (1) and of the work under way (2),
-- so that steady work cannot keep an upgrade out. Anybody may take such locks: only with one who
-- can lock the ledger's table as its owner are they an upgrade's.
create or replace function lenses.fn_admit_work()
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_try_advisory_lock_shared(1818653553, 1) then
    perform pg_advisory_unlock_shared(1818653553, 1);
    if pg_try_advisory_xact_lock_shared(1818653553, 2) then
      return true;
    end if;
  end if;
  return not exists (
    select
    from pg_locks as a
    inner join pg_locks as p on p.pid = a.pid
    where a.locktype = 'advisory' and a.classid = 1818653553 and a.objid = 1 and a.objsubid = 2
      and a.granted and a.mode = 'ExclusiveLock'
      and a.database = (select d.oid from pg_database as d where d.datname = current_database())
      and p.locktype = 'relation' and p.relation = to_regclass('lf_sql.migrations')
      and p.granted and p.mode in ('ShareUpdateExclusiveLock', 'AccessExclusiveLock'));
end;
$$;
