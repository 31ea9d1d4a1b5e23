-- owner: lf_sql_engine
-- onOverlap replace: cancels the oldest runs in flight of the dispatched schedules until their limit
-- holds again, the newcomers counted.
create or replace function lenses.fn_replace_oldest_runs(
  p_decisions lenses.slot_decision[],
  p_now timestamptz
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_id uuid;
begin
  for v_run_id in
    select r.id
    from (
      select
        f.id,
        s.max_in_flight,
        row_number() over (
          partition by f.schedule_id
          order by f.created_at desc, f.scheduled_for desc nulls last, f.id
        ) as newest_first
      from lenses.workflow_schedules as s
      cross join lenses.dispatch_settings as x
      inner join lenses.workflow_runs as f
        on f.schedule_id = s.id and f.status in ('pending_approval', 'pending', 'running')
      where coalesce(s.on_overlap, x.default_on_overlap) = 'replace'
        and s.max_in_flight is not null
        and s.id in (
          select d.schedule_id from unnest(p_decisions) as d where d.decision = 'dispatch')
    ) as r
    where r.newest_first > r.max_in_flight
    order by r.id
  loop
    perform lenses.fn_end_run(v_run_id, 'cancelled', 'replaced', null, p_now);
  end loop;
end
$$;
