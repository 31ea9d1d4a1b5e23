-- The driver's entry: one tick, a batch a transaction, until nothing is due but what the caps leave, or
-- 50 seconds are over (the next tick goes on). Invoker and without a SET clause, since it commits;
-- every name is qualified and all work is done in pinned functions.
create or replace procedure lenses.sp_dispatch_tick()
language plpgsql
as $$
declare
  v_tick_id bigint;
  v_stop_at timestamptz := pg_catalog.clock_timestamp() + interval '50 seconds';
  v_is_more boolean;
  v_note text;
begin
  v_tick_id := lenses.fn_tick_begin(coalesce(
    nullif(pg_catalog.current_setting('application_name'), ''), 'pg_cron'));
  commit;
  while v_tick_id is not null loop
    begin
      v_is_more := lenses.fn_tick_step(v_tick_id);
    exception
      when others or assert_failure or query_canceled then
        v_is_more := false;
        v_note := sqlstate || ': ' || sqlerrm;
    end;
    commit;
    exit when not v_is_more;
    if pg_catalog.clock_timestamp() >= v_stop_at then
      v_note := 'stopped after 50 seconds; the next tick goes on';
      exit;
    end if;
  end loop;
  if v_tick_id is not null then
    perform lenses.fn_tick_end(v_tick_id, v_note);
    commit;
  end if;
end
$$;

comment on procedure lenses.sp_dispatch_tick() is 'One tick for a driver (pg_cron, worker): call it once a minute or oftener; any number at once is safe. Writes one dispatch_ticks row.';
