-- owner: lf_sql_engine
-- For lf-sql cells, in the old cell, once the tenants are at work in the new one: nothing takes the
-- departure back, and retention begins. Until then the purge leaves everything of theirs as it is.
-- Returns those whose departure is settled, now or before.
create or replace function lenses.fn_settle_departures(p_lenser_ids uuid[])
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lensers.profiles as p set departure_settled_at = now()
  where p.id = any (p_lenser_ids) and p.departed_at is not null
    and p.departure_settled_at is null;
  return array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departure_settled_at is not null
    order by p.id);
end;
$$;

comment on function lenses.fn_settle_departures(uuid[]) is
  'The tenants are at work in their new cell: nothing takes the departure back, and the purge may '
  'have what they left. Returns those whose departure is settled.';
