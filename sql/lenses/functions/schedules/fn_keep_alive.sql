-- owner: lf_sql_engine
-- The part of a tick that keeps schedules and gateway crons from falling silent: after a clock that was
-- ahead, and after a zone that was gone. Each of its steps is bounded.
create or replace function lenses.fn_keep_alive(p_tick_id bigint, p_now timestamptz)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_undo_future(p_tick_id, p_now);
  perform lenses.fn_cut_leases(p_now);
  perform lenses.fn_revive_schedules(p_now);
  perform agents.fn_revive_gateway_crons(p_now);
end
$$;
