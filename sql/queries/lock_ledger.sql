-- Proves that whoever holds the installers' advisory lock is an installer: only the ledger's owner
-- can take this lock (lenses.fn_admit_work checks it), while anybody who may connect can take an
-- advisory lock.
do $proof$
begin
  if pg_catalog.to_regclass('lf_sql.migrations') is not null then
    lock table lf_sql.migrations in share update exclusive mode;
  end if;
end;
$proof$;
