-- owner: lf_sql_engine
-- Dispatches schedules together. Where that fails it halves them until the one that fails is alone,
-- so that a bad row costs only itself. Errors of the server are raised again: no schedule has
-- caused them. The recursion is as deep as log2 of the batch plus log2 of the cap.
create or replace function lenses.fn_dispatch_bisecting(
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
  v_size integer := cardinality(p_schedule_ids);
  v_state text;
  v_message text;
begin
  begin
    perform lenses.fn_dispatch_schedules(
      p_schedule_ids, p_tick_id, p_now, p_cap, p_max_catchup);
    return;
  exception
    when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      v_state := sqlstate;
      v_message := sqlerrm;
  end;
  if v_size > 1 then
    perform lenses.fn_dispatch_bisecting(
      p_schedule_ids[1 : v_size / 2], p_tick_id, p_now, p_cap, p_max_catchup);
    perform lenses.fn_dispatch_bisecting(
      p_schedule_ids[v_size / 2 + 1 : v_size], p_tick_id, p_now, p_cap, p_max_catchup);
  elsif p_cap > 1 then
    -- Several slots may be due: those before the one that fails are still dispatched.
    perform lenses.fn_dispatch_bisecting(
      p_schedule_ids, p_tick_id, p_now, p_cap / 2, p_max_catchup);
  else
    perform lenses.fn_record_failure(p_schedule_ids[1], p_tick_id, p_now, v_state, v_message);
  end if;
end;
$$;
