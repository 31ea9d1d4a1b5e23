-- The first p_left dispatches of the decisions stand, what is beyond them is over budget. NULL: all
-- stand.
create or replace function lenses.fn_cap_decisions(
  p_decisions lenses.slot_decision[],
  p_left bigint
)
returns lenses.slot_decision[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at bigint;
begin
  if p_left is null then
    return p_decisions;
  end if;
  for v_at in
    select d.ordinality from unnest(p_decisions) with ordinality as d
    where d.decision = 'dispatch'
    order by d.ordinality
    offset greatest(p_left, 0)
  loop
    p_decisions[v_at].decision := 'skip';
    p_decisions[v_at].reason := 'budget_exceeded';
    p_decisions[v_at].status := 'budget_exceeded';
  end loop;
  return p_decisions;
end;
$$;
