-- owner: lf_sql_engine
-- How many requests of a delivery have no answer yet. NULL on a standby: the table is unlogged, so
-- a standby has none of its rows and may not read it.
create or replace function lenses.fn_requests_in_flight(p_delivery text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  return (
    select count(*)
    from lenses.delivery_requests as q
    where q.delivery = p_delivery and q.expires_at > now()
  );
end;
$$;
