-- The key of a tenant's advisory lock: shared by calls that write, taken whole by a departure.
create or replace function lensers.fn_tenant_lock(p_lenser_id uuid)
returns bigint
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select hashtextextended('lf-sql tenant ' || p_lenser_id, 0)
$$;
