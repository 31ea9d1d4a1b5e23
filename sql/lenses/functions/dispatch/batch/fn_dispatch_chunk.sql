-- owner: lf_sql_engine
-- Handles all that is due of schedules that the caller has locked, up to p_max_catchup slots each
-- in this tick, in rounds of p_cap. Each round handles at least a slot of each schedule that is
-- left, so that many rounds are enough.
create or replace function lenses.fn_dispatch_chunk(
  p_schedule_ids uuid[],
  p_tick_id bigint,
  p_now timestamptz,
  p_cap integer,
  p_max_catchup integer
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left uuid[] := p_schedule_ids;
begin
  for v_round in 1 .. p_max_catchup loop
    exit when cardinality(v_left) = 0;
    perform lenses.fn_dispatch_bisecting(v_left, p_tick_id, p_now, p_cap, p_max_catchup);
    v_left := array(
      select s.id
      from lenses.workflow_schedules as s
      where s.id = any (v_left) and s.due_at <= p_now
        and s.tick_id = p_tick_id and s.tick_slots < p_max_catchup);
  end loop;
end;
$$;
