-- The partitions of events and logs that hold a range of time: the table, the partition, and the
-- range of occurred_at, its end left out. From the catalogue, oldest first; the default partitions
-- have no range and are left out.
create or replace function lenses.fn_partitions()
returns table (parent regclass, part regclass, from_at timestamptz, until_at timestamptz)
language sql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
select i.inhparent::regclass, i.inhrelid::regclass, b.from_at, b.until_at
from pg_inherits as i
inner join pg_class as c on c.oid = i.inhrelid
cross join lateral (
  select pg_get_expr(c.relpartbound, c.oid) as bound offset 0
) as x
cross join lateral (
  select
    substring(x.bound from 'FROM [(]''([^'']+)''[)]')::timestamptz as from_at,
    substring(x.bound from 'TO [(]''([^'']+)''[)]')::timestamptz as until_at
) as b
where i.inhparent in (
  'lenses.workflow_run_events'::regclass, 'agents.agent_run_events'::regclass,
  'agents.action_logs'::regclass)
  and b.until_at is not null
order by b.until_at, i.inhparent
$$;
