-- All slots of these schedules wait, whatever was judged: their limits are in somebody else's
-- hands.
create or replace function lenses.fn_defer_decisions(
  p_decisions lenses.slot_decision[],
  p_schedule_ids uuid[]
)
returns lenses.slot_decision[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at integer;
begin
  if cardinality(p_schedule_ids) = 0 then
    return p_decisions;
  end if;
  for v_at in
    select d.ordinality from unnest(p_decisions) with ordinality as d
    where d.schedule_id = any (p_schedule_ids)
  loop
    p_decisions[v_at].decision := 'defer';
    p_decisions[v_at].reason := 'limit_in_use';
    p_decisions[v_at].status := 'deferred';
  end loop;
  return p_decisions;
end;
$$;
