-- Cuts a batch into chunks that are handled one after the other, in order, so that what is in
-- memory at once has a bound: 16 MB of inputs and ten times p_limit slots. slots: how many of a
-- schedule at once.
create or replace function lenses.fn_batch_chunks(
  p_schedule_ids uuid[],
  p_input_bytes integer[],
  p_limit integer
)
returns table (schedule_ids uuid[], slots integer)
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select
  array_agg(q.schedule_id order by q.ord),
  greatest(least(16777216 / greatest(sum(q.input_bytes), 1), p_limit * 10 / count(*)), 1)::integer
from (
  select u.*, sum(u.input_bytes) over (order by u.ord) / 16777216 as chunk
  from unnest(p_schedule_ids, p_input_bytes) with ordinality as u (schedule_id, input_bytes, ord)
) as q
group by q.chunk
order by q.chunk
$$;
