-- owner: lf_sql_engine
-- Updates the limits of schedules after a change of an assignment's queue policy (its id), of the
-- server's default mode (NULL: all), or of the cell that a tenant lives in (its id). It locks them
-- in the order of their ids and writes only those whose limits change, each through the table's
-- trigger. A schedule that is saved at the same moment may have read the old default mode:
-- lenses.fn_invariant_violations reports it, and lenses.fn_recount repairs it.
create or replace function lenses.fn_follow_policies(
  p_assignment_id uuid,
  p_lenser_id uuid default null
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  update lenses.workflow_schedules as s
  set
    max_in_flight = q.max_in_flight,
    on_missed = q.on_missed,
    on_overlap = q.on_overlap,
    max_backfill = q.max_backfill,
    spread_window_ms = q.spread_window_ms
  from (
    select c.id, l.*
    from lenses.workflow_schedules as c
    cross join lateral lenses.fn_queue_limits(
      lenses.fn_merge_policies(
        jsonb_build_object('queue_policy', c.queue_policy), c.explicit_defaults,
        c.workflow_assignment_id) -> 'queue_policy') as l
    where (p_assignment_id is null or c.workflow_assignment_id = p_assignment_id)
      and (p_lenser_id is null or c.lenser_id = p_lenser_id)
      and (c.max_in_flight, c.on_missed, c.on_overlap, c.max_backfill, c.spread_window_ms)
      is distinct from (
        l.max_in_flight, l.on_missed, l.on_overlap, l.max_backfill, l.spread_window_ms)
    order by c.id
    for no key update of c
  ) as q
  where s.id = q.id;
end;
$$;
