-- One cycle of a definition's graph, or NULL. Kahn's algorithm: nodes without a way onward are
-- removed until none is left. Where some remain, each of them leads to another that remains, so a
-- walk must close. It goes node by node, because each removal decides about the next. An assignment
-- that also reads its array would copy it whole, hence v_number. Never raises: an edge that
-- fn_check_definition would refuse is ignored.
create or replace function lenses.fn_workflow_cycle(p_definition jsonb)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[];
  v_from int[];
  v_to int[];
  v_first int[];
  v_onward int[];
  v_next int[];
  v_walked_at int[];
  v_queue int[] := array[]::int[];
  v_walk int[] := array[]::int[];
  v_node int;
  v_number int;
begin
  if jsonb_typeof(p_definition -> 'edges') is distinct from 'array' then
    return null;
  end if;
  -- nodes get their place among the sorted ids as number; edges are sorted by where they lead
  with ends as materialized (
    select e.ordinality as edge, w.is_target, w.id collate "C" as id,
      dense_rank() over (order by w.id collate "C")::int as number
    from jsonb_array_elements(p_definition -> 'edges') with ordinality e
    cross join lateral (
      values (false, e.value ->> 'from'), (true, e.value ->> 'to')
    ) w (is_target, id)
    where jsonb_typeof(e.value -> 'from') = 'string' and jsonb_typeof(e.value -> 'to') = 'string'
  ),
  edges as (
    select n.edge, min(n.number) filter (where not n.is_target) as source,
      min(n.number) filter (where n.is_target) as target
    from ends n
    group by n.edge
  )
  select
    (select array_agg(distinct n.id) from ends n),
    array_agg(e.source order by e.target, e.edge),
    array_agg(e.target order by e.target, e.edge)
  into v_ids, v_from, v_to
  from edges e;
  if v_ids is null then
    return null;
  end if;

  -- how many edges leave each node, and at which place those that lead to it begin
  v_onward := array_fill(0, array[cardinality(v_ids)]);
  v_first := array_fill(cardinality(v_from) + 1, array[cardinality(v_ids)]);
  for v_edge in reverse cardinality(v_from) .. 1 loop
    v_number := v_onward[v_from[v_edge]] + 1;
    v_onward[v_from[v_edge]] := v_number;
    v_first[v_to[v_edge]] := v_edge;
  end loop;

  for v_at in 1 .. cardinality(v_ids) loop
    if v_onward[v_at] = 0 then
      v_queue := v_queue || v_at;
    end if;
  end loop;
  for v_at in 1 .. cardinality(v_ids) loop
    exit when v_at > cardinality(v_queue);
    v_node := v_queue[v_at];
    for v_edge in v_first[v_node] .. cardinality(v_from) loop
      exit when v_to[v_edge] <> v_node;
      v_number := v_onward[v_from[v_edge]] - 1;
      v_onward[v_from[v_edge]] := v_number;
      if v_number = 0 then
        v_queue := v_queue || v_from[v_edge];
      end if;
    end loop;
  end loop;
  if cardinality(v_queue) = cardinality(v_ids) then
    return null;
  end if;

  v_next := array_fill(null::int, array[cardinality(v_ids)]);
  for v_edge in reverse cardinality(v_from) .. 1 loop
    if v_onward[v_to[v_edge]] > 0 then
      v_next[v_from[v_edge]] := v_to[v_edge];
    end if;
  end loop;
  v_node := 1;
  while v_onward[v_node] = 0 loop
    v_node := v_node + 1;
  end loop;
  v_walked_at := array_fill(null::int, array[cardinality(v_ids)]);
  while v_walked_at[v_node] is null loop
    v_walk := v_walk || v_node;
    v_walked_at[v_node] := cardinality(v_walk);
    v_node := v_next[v_node];
  end loop;
  return array(
    select v_ids[w.node]
    from unnest(v_walk[v_walked_at[v_node]:] || v_node) with ordinality w (node, step)
    order by w.step
  );
end;
$$;

comment on function lenses.fn_workflow_cycle(jsonb) is
  'The node ids of one cycle of the definition''s graph, in order, the first repeated at the end '
  '({a,b,c,a}); a self-loop is {a,a}. NULL if there is none.';
