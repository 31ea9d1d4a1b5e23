-- owner: lf_sql_engine
-- For the RPCs that write: returns the calling tenant, and keeps it in this cell until the
-- transaction ends, since a departure locks the profile first (lenses.fn_depart_tenants). Call it
-- before anything else is locked. Where a departure was first, the caller is refused.
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
  perform from lensers.profiles as p
  where p.id = v_lenser_id and p.departed_at is null
  for share;
  if not found then
    return lensers.fn_require_lenser();
  end if;
  return v_lenser_id;
end;
$$;
