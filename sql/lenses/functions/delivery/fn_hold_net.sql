-- owner: lf_sql_engine
-- Keeps pg_net's queue as it is until the transaction ends, so that nobody adds a trigger to it,
-- and says why pg_net is not to be called; NULL where it may be.
create or replace function lenses.fn_hold_net()
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_queue constant oid := (
    select c.oid
    from pg_class as c
    inner join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'net' and c.relname = 'http_request_queue');
begin
  if c_queue is not null and has_schema_privilege('net', 'usage')
    and has_table_privilege(c_queue, 'insert')
  then
    lock table net.http_request_queue in row exclusive mode nowait;
  end if;
  return (select t.problem || ': ' || t.advice from lenses.fn_net_trouble() as t);
end;
$$;
