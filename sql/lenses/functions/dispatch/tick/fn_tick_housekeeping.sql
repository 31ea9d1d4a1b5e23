-- owner: lf_sql_engine
-- What a tick does beside the schedules, in pieces of p_limit rows at most: revives schedules that
-- would fall silent, reaps expired leases and approvals, queues runs whose time has come, ends
-- pauses, dispatches gateway crons, posts runs and events, and makes tomorrow's partitions where
-- the nightly purge did not. It does one piece and returns true, or false where nothing is left.
-- The first piece of each part comes before the first batch; after that, pieces and batches take
-- turns (is_batch_next). A part that fails is noted on the tick and tried again by the next tick;
-- it does not hold up the others. A part that a statement timeout cuts off goes on in smaller
-- pieces, after the others.
create or replace function lenses.fn_tick_housekeeping(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer default 1000
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tick lenses.dispatch_ticks;
  v_parts text[];
  v_again text[];
  v_part text;
  v_limit integer;
  v_done integer := 0;
  v_note text;
begin
  select t.* into v_tick from lenses.dispatch_ticks as t where t.id = p_tick_id;
  v_parts := coalesce(
    v_tick.parts, array[
      'reviving schedules', 'reaping runs', 'queueing runs', 'ending pauses', 'gateway leases',
      'gateway crons']);
  if v_tick.parts is null then
    if exists (select from lenses.deliveries) then
      v_parts := v_parts || 'delivering'::text;
    end if;
    -- Not where the whole tick is one transaction: it would hold the locks until its end.
    if v_tick.driver <> 'function' and lenses.fn_lacks_partitions() then
      v_parts := v_parts || 'making partitions'::text;
    end if;
  end if;
  v_again := v_tick.parts_again;
  v_limit := least(p_limit, v_tick.part_limit);
  while v_done = 0 and v_note is null and v_parts || v_again <> '{}' loop
    v_part := (v_parts || v_again)[1];
    begin
      v_done := lenses.fn_housekeeping_part(v_part, p_tick_id, p_now, v_limit);
    exception
      when query_canceled then
        if not lenses.fn_is_timed_out() then
          raise;
        end if;
        v_note := format('%s was cut off: %s %s', v_part, sqlstate, sqlerrm);
        v_tick.part_limit := greatest(v_limit / 2, 1);
      when others or assert_failure then
        v_note := format('%s failed: %s %s', v_part, sqlstate, sqlerrm);
    end;
    v_again := array_remove(v_again, v_part);
    if v_done > 0 or v_tick.part_limit < v_limit then
      v_again := v_again || v_part;
    end if;
    v_parts := array_remove(v_parts, v_part);
  end loop;
  if v_note is not null then
    raise warning 'lf-sql: %', v_note;
  end if;
  update lenses.dispatch_ticks as t
  set
    parts = v_parts,
    parts_again = v_again,
    is_batch_next = v_parts = '{}' and v_again <> '{}',
    part_limit = v_tick.part_limit,
    note = nullif(left(concat_ws('; ', t.note, v_note), 2000), '')
  where t.id = p_tick_id
    and (v_note is not null or (t.parts, t.parts_again) is distinct from (v_parts, v_again));
  return v_done > 0 or v_note is not null;
end;
$$;
