-- owner: lf_sql_engine
-- For consumers (service_role): marks events as done.
create or replace function lenses.fn_ack_events(p_worker_id text, p_ids bigint[])
returns setof bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_ids) > 1000 then
    raise exception using
      errcode = '22023',
      column = 'ids',
      message = format('p_ids has %s ids, more than 1000', cardinality(p_ids)),
      hint = 'Acknowledge them in several calls.';
  end if;
  return query
  with gone as (
    delete from lenses.outbox as o
    where o.id = any (p_ids) and o.worker_id = p_worker_id and o.dead_at is null
    returning o.id, o.delivery, o.event_type
  ),

  tested as (
    update lenses.deliveries as d set tested_id = t.id
    from (
      select g.delivery, max(g.id) as id
      from gone as g where g.event_type = 'delivery.test'
      group by g.delivery
    ) as t
    where d.name = t.delivery
  )

  select g.id from gone as g;
end;
$$;

comment on function lenses.fn_ack_events(text, bigint[]) is
  'Acknowledges and deletes the events p_ids (1,000 at most) that p_worker_id has claimed. '
  'Returns the ids that were deleted, without those that another worker has claimed since. '
  '22023: too many ids.';
