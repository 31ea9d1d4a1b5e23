-- owner: lf_sql_engine
-- An edit of the rule moves a schedule on while slots of the old rule wait: one log row says which
-- went.
create or replace function lenses.fn_log_edited(
  p_old lenses.workflow_schedules,
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due record;
begin
  select * into v_due from lenses.fn_slots_due_before(p_old, p_old.next_run_at, p_now);
  perform lenses.fn_log_missed(
    p_old.lenser_id, p_old.id, v_due.slot_count + 1, p_old.next_run_at,
    coalesce(v_due.last_slot, p_old.next_run_at), p_now, 'schedule_edited');
end;
$$;
