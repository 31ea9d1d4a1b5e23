-- owner: lf_sql_engine
-- One batch of a tick: takes up to p_limit due schedules by the due index and handles all that is
-- due of them, within the caps. It does not take a schedule twice in one tick. Returns how many it
-- took; 0 when nothing is left. Schedules on time come before schedules with late slots, and those
-- without a condition before those with one, so that a slow signal delays only schedules with
-- conditions. The later kinds come in smaller batches, since each schedule may hold many slots or
-- ask many questions. One batch in eight takes them first, counted across ticks that were cut off,
-- so that no kind starves. It never waits for a lock on a schedule, and a user's change at the same
-- moment stands. It waits only for a transaction that holds a run which it replaces, or that
-- inserts a run of the same slot. The planner settings apply to everything below: a batch is
-- look-ups by key, and must stay so whatever the statistics say.
create or replace function lenses.fn_dispatch_pass(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer,
  p_max_catchup integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  v_late_until timestamptz;
  v_passes integer;
  v_kind text;
  v_kinds text[];
  v_picked record;
  v_taken integer := 0;
  v_chunk record;
begin
  select t.passes into v_passes from lenses.dispatch_ticks as t where t.id = p_tick_id;
  v_late_until := lenses.fn_late_until(
    p_now, (select d.missed_grace from lenses.dispatch_settings as d));
  v_kinds := case
    when not exists (select from lenses.schedule_due as d where d.due_at <= p_now) then '{}'
    when v_passes % 8 = 3 then array['conditional', 'fresh', 'late']
    when v_passes % 8 = 7 then array['late', 'fresh', 'conditional']
    else array['fresh', 'conditional', 'late'] end;
  foreach v_kind in array v_kinds loop
    v_picked := lenses.fn_pick_due(
      p_tick_id, p_now, v_late_until, v_kind,
      case
        when v_kind = 'fresh' then p_limit
        -- Late schedules first: about as many slots as a batch of schedules on time has.
        when v_kind = 'late' and v_kind = v_kinds[1] then greatest(p_limit / p_max_catchup, 1)
        else greatest(p_limit / 10, 1) end);
    v_taken := coalesce(cardinality(v_picked.schedule_ids), 0);
    exit when v_taken > 0;
  end loop;
  update lenses.dispatch_ticks as t
  set passes = case when v_taken > 0 then t.passes + 1 else 0 end
  where t.id = p_tick_id and (v_taken > 0 or t.passes > 0);
  if v_taken = 0 then
    return 0;
  end if;
  -- New runs are posted in this tick, not the next.
  if exists (select from lenses.deliveries) then
    update lenses.dispatch_ticks as t
    set parts_again = t.parts_again || 'delivering'::text
    where t.id = p_tick_id and 'delivering' <> all (t.parts_again);
  end if;

  for v_chunk in
    select c.*
    from lenses.fn_batch_chunks(v_picked.schedule_ids, v_picked.input_bytes, p_limit) as c
  loop
    perform lenses.fn_dispatch_chunk(
      v_chunk.schedule_ids, p_tick_id, p_now, least(v_chunk.slots, p_max_catchup), p_max_catchup);
  end loop;
  return v_taken;
end;
$$;
