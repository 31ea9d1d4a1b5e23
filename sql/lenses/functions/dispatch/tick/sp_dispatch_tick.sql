-- The driver's entry: one tick, a batch a transaction, until nothing is due but what the caps
-- leave, or 50 seconds are over (the next tick goes on). Invoker and without a SET clause, since it
-- commits, so it runs under whatever search_path its caller's database has: every name, type and
-- operator is qualified (also the hidden ones: no nullif, no in, no like), and all work is done in
-- pinned functions. What keeps only the tick's own row does not wait for the disk: a crash may lose
-- the last ticks that had nothing to do, never a run.
create or replace procedure lenses.sp_dispatch_tick(p_lane integer default 1)
language plpgsql
as $$
declare
  v_tick_id pg_catalog.int8;
  v_driver pg_catalog.text := pg_catalog.current_setting('application_name');
  v_stop_at pg_catalog.timestamptz
    := pg_catalog.clock_timestamp() operator(pg_catalog.+) '50 seconds'::pg_catalog.interval;
  v_is_more pg_catalog.bool;
  v_note pg_catalog.text;
begin
  if v_driver operator(pg_catalog.=) ''::pg_catalog.text then
    v_driver := 'pg_cron'::pg_catalog.text;
  end if;
  perform pg_catalog.set_config('synchronous_commit', 'off', true);
  v_tick_id := lenses.fn_tick_begin(v_driver, p_lane => p_lane);
  commit;
  while v_tick_id is not null loop
    begin
      v_is_more := lenses.fn_tick_step(v_tick_id);
    exception
      when others or assert_failure or query_canceled then
        v_is_more := false;
        v_note := pg_catalog.concat(sqlstate, ': '::pg_catalog.text, sqlerrm);
    end;
    if not v_is_more then
      perform pg_catalog.set_config('synchronous_commit', 'off', true);
    end if;
    commit;
    exit when not v_is_more;
    if pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_stop_at then
      v_note := 'stopped after 50 seconds; the next tick goes on'::pg_catalog.text;
      exit;
    end if;
  end loop;
  if v_tick_id is not null then
    perform pg_catalog.set_config('synchronous_commit', 'off', true);
    perform lenses.fn_tick_end(v_tick_id, v_note);
    commit;
  end if;
end;
$$;

comment on procedure lenses.sp_dispatch_tick(integer) is
  'One tick for a driver (pg_cron, worker): call it at least once a minute; several at once are '
  'safe. p_lane: which of dispatch_lanes drivers this is; one beyond them does nothing. Writes '
  'one dispatch_ticks row. 22023: p_lane is not 1 to 16.';
