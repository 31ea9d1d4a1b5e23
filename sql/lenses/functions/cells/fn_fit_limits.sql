-- owner: lf_sql_engine
-- For fn_arrive_tenant: the limits of the tenant's schedules, as this cell's default_queue_mode
-- makes them, which may differ from the old cell's. Like lenses.fn_follow_policies.
create or replace function lenses.fn_fit_limits(p_lenser_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  update lenses.workflow_schedules as s
  set max_in_flight = q.max_in_flight, on_missed = q.on_missed, on_overlap = q.on_overlap,
    max_backfill = q.max_backfill, spread_window_ms = q.spread_window_ms
  from (
    select c.id, l.*
    from lenses.workflow_schedules as c
    cross join lateral lenses.fn_queue_limits(
      lenses.fn_merge_policies(
        jsonb_build_object('queue_policy', c.queue_policy), c.explicit_defaults,
        c.workflow_assignment_id) -> 'queue_policy') as l
    where c.lenser_id = p_lenser_id
      and (c.max_in_flight, c.on_missed, c.on_overlap, c.max_backfill, c.spread_window_ms)
      is distinct from (
        l.max_in_flight, l.on_missed, l.on_overlap, l.max_backfill, l.spread_window_ms)
  ) as q
  where s.id = q.id;
end;
$$;
