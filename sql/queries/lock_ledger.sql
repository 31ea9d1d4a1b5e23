-- Proof that who holds the installers' advisory lock is one: only the ledger's owner can take this
-- (lenses.fn_admit_work asks for it), while anybody who may connect can take an advisory lock.
do $proof$
begin
  if pg_catalog.to_regclass('lf_sql.migrations') is not null then
    lock table lf_sql.migrations in share update exclusive mode;
  end if;
end;
$proof$;
