-- owner: lf_sql_engine
-- How many of the first p_limit runs that may start at once, by priority, then age, then slot,
-- belong to each of these workflows: that is how deep each queue must be read to merge them in
-- order. Runs of the schedules p_full, which have reached their limits, are left out. It reads a
-- few runs of each queue, then more of each queue whose runs were all among the first, so that many
-- workflows with long queues cost little more than one.
create or replace function lenses.fn_queue_depths(
  p_workflow_ids uuid[],
  p_limit integer,
  p_full uuid[]
)
returns integer[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_count constant integer := cardinality(p_workflow_ids);
  v_depths integer[] := array_fill(
    least(p_limit, greatest(4, 2 * p_limit / greatest(c_count, 1))), array[c_count]);
  v_found integer[];
begin
  while c_count > 1 loop
    v_found := array(
      select coalesce(n.found, 0)
      from generate_series(1, c_count) as g (place)
      left join (
        select m.place, count(*)::integer as found
        from (
          select w.place
          from unnest(p_workflow_ids, v_depths) with ordinality as w (id, depth, place)
          cross join lateral (
            select q.priority, q.created_at, q.scheduled_for, q.id
            from lenses.workflow_runs as q
            where q.workflow_id between w.id and w.id
              and q.status = 'pending' and q.available_at is null
              and (not q.needs_approval or exists (
                select from agents.team_runs as t
                where t.workflow_run_id = q.id and t.approval_status = 'approved'))
              and (q.schedule_id is null
                or q.schedule_id not in (select f.id from unnest(p_full) as f (id)))
            order by q.workflow_id, q.priority desc, q.created_at, q.scheduled_for, q.id
            limit w.depth
          ) as r
          order by r.priority desc, r.created_at, r.scheduled_for, r.id
          limit p_limit
        ) as m
        group by m.place
      ) as n on n.place = g.place
      order by g.place);
    exit when not exists (
      select from unnest(v_found, v_depths) as d (found, depth)
      where d.found = d.depth and d.depth < p_limit);
    v_depths := array(
      select case when d.found = d.depth then least(p_limit, 4 * d.depth) else d.depth end
      from unnest(v_found, v_depths) with ordinality as d (found, depth, place)
      order by d.place);
  end loop;
  return coalesce(v_found, v_depths);
end;
$$;
