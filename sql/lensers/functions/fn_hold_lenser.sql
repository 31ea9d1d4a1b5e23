-- owner: lf_sql_engine
-- For the RPCs that write: returns the calling tenant, and keeps it in this cell until the
-- transaction ends, since a departure takes the tenant's advisory lock first
-- (lenses.fn_depart_tenants). Call it before anything else is locked. Where a departure was first,
-- the caller is refused. Calls of one tenant neither wait for each other nor write to its profile;
-- only a transaction with an old snapshot locks the row as well, which finds a departure since.
create or replace function lensers.fn_hold_lenser()
returns uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  perform pg_advisory_xact_lock_shared(lensers.fn_tenant_lock(v_lenser_id));
  if current_setting('transaction_isolation') = 'read committed' then
    perform from lensers.profiles as p where p.id = v_lenser_id and p.departed_at is null;
  else
    perform from lensers.profiles as p
    where p.id = v_lenser_id and p.departed_at is null
    for share;
  end if;
  if not found then
    return lensers.fn_require_lenser();
  end if;
  return v_lenser_id;
end;
$$;
