-- owner: lf_sql_engine
-- The part of a tick that keeps schedules and gateway crons from falling silent: after a clock that
-- was ahead, and after a zone that was gone. At most about p_limit rows a step; returns how many.
create or replace function lenses.fn_keep_alive(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_cut_leases(p_now);
  return lenses.fn_undo_future(p_tick_id, p_now, p_limit)
    + lenses.fn_revive_schedules(p_now, p_limit)
    + agents.fn_revive_gateway_crons(p_now, p_limit);
end;
$$;
