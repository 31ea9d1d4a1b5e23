-- owner: lf_sql_engine
-- How many more runs of a schedule with a limit may start now, for the transaction that from here
-- on holds its row in lenses.schedule_due; 0 where another transaction has that row. All running
-- runs count: an expired lease that was not reaped still belongs to a worker, who may extend it. It
-- also counts before it takes the row, so that it does not lock a full schedule's row against the
-- tick. The status is a variable, so that the plan uses the index by schedule, never the index of
-- all leases.
create or replace function lenses.fn_claimable_runs(p_schedule_id uuid)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  c_running constant text := 'running';
  v_free integer;
begin
  for v_look in 1 .. 2 loop
    select coalesce(s.max_in_flight, 1000000) - (
      select count(*)
      from lenses.workflow_runs as x
      where x.schedule_id = s.id and x.status in ('pending_approval', 'pending', 'running')
        and x.status = c_running)
    into v_free
    from lenses.workflow_schedules as s
    where s.id = p_schedule_id;
    exit when v_free <= 0 or v_look = 2;

    perform from lenses.schedule_due as d
    where d.schedule_id = p_schedule_id
    for no key update skip locked;
    if not found then
      return 0;
    end if;
    update lenses.schedule_due as d set due_at = d.due_at where d.schedule_id = p_schedule_id;
  end loop;
  return v_free;
end;
$$;
