-- owner: lf_sql_engine
-- onOverlap replace: cancels the oldest runs in flight of the dispatched schedules until their
-- limit holds again, with the new runs counted. It waits for locks on such runs, so it takes the
-- runs in the same order as lenses.fn_heartbeat_workflow_runs: by schedule, then by run.
create or replace function lenses.fn_replace_oldest_runs(
  p_decisions lenses.slot_decision[],
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule_ids uuid[];
  v_run_id uuid;
begin
  v_schedule_ids := array(
    select d.schedule_id from unnest(p_decisions) as d
    where d.decision = 'dispatch' and d.is_replacing);
  if cardinality(v_schedule_ids) = 0 then
    return;
  end if;
  for v_run_id in
    select r.id
    from (
      select
        f.id,
        f.schedule_id,
        s.max_in_flight,
        row_number() over (
          partition by f.schedule_id
          order by f.created_at desc, f.scheduled_for desc nulls last, f.id
        ) as newest_first
      from lenses.workflow_schedules as s
      inner join lenses.workflow_runs as f
        on f.schedule_id = s.id and f.status in ('pending_approval', 'pending', 'running')
      where s.id = any (v_schedule_ids)
    ) as r
    where r.newest_first > r.max_in_flight
    order by r.schedule_id, r.id
  loop
    perform lenses.fn_end_run(v_run_id, 'cancelled', 'replaced', null, p_now);
  end loop;
end;
$$;
