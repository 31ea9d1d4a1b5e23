-- owner: lf_sql_engine
-- Guard of rows that the table owner writes by hand: keeps their tenant here until the transaction
-- ends, so that a departure does not miss what is not committed yet. It refuses nothing: a restore
-- brings the rows of a tenant that has departed.
create or replace function lensers.tg_hold_tenant()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from lensers.profiles as p where p.id = new.lenser_id for share;
  return new;
end;
$$;

comment on function lensers.tg_hold_tenant() is
  'Lets a departure of the row''s tenant wait until the writer''s transaction ends.';
