-- owner: lf_sql_engine
-- A deferred slot is looked at again at once, by p_at. Moves the due time as the dispatcher does,
-- with dispatch_seq, so that a schedule that could not be saved any more is woken too.
create or replace function lenses.fn_wake_schedule(p_schedule_id uuid, p_at timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.workflow_schedules as s
  set due_at = p_at, dispatch_seq = s.dispatch_seq + 1
  where s.id = p_schedule_id and s.is_active and s.due_at > p_at;
  if found then
    update lenses.schedule_due as d set due_at = p_at where d.schedule_id = p_schedule_id;
  end if;
end;
$$;
