-- owner: lf_sql_engine
-- For executors (service_role): books the credits of an attempt whose end could not be reported,
-- because the run was cancelled or its lease had expired. The run's events show which worker had
-- the attempt and whether it has been booked, so that it is booked once, however often it is
-- reported. Once its tenant has departed it is booked in the new cell, not here.
create or replace function lenses.fn_book_run_credits(
  p_run_id uuid,
  p_worker_id text,
  p_attempt integer,
  p_spent_credits numeric
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run lenses.workflow_runs;
  v_about constant jsonb := jsonb_build_object('attempt', p_attempt, 'worker_id', p_worker_id);
begin
  if (p_spent_credits > 0 and round(p_spent_credits, 4) < 100000000000000) is not true then
    raise exception using
      errcode = '22023',
      column = 'spent_credits',
      message = format(
        'p_spent_credits must be more than 0, and finite, not %s',
        coalesce(p_spent_credits::text, 'NULL')
      ),
      hint = 'Give what the attempt has spent.';
  end if;
  perform lensers.fn_require_here(r.lenser_id) from lenses.workflow_runs as r where r.id = p_run_id;
  select r.* into v_run from lenses.workflow_runs as r where r.id = p_run_id for no key update;
  if not exists (
    select from lenses.workflow_run_events as e
    where e.run_id = p_run_id and e.event_type = 'run.started' and e.payload @> v_about
  ) then
    return false;
  end if;
  if exists (
    select from lenses.workflow_run_events as e
    where e.run_id = p_run_id and e.event_type = 'run.booked' and e.payload @> v_about
  ) then
    return true;
  end if;

  update lenses.workflow_runs as r
  set spent_credits = r.spent_credits + p_spent_credits, last_event_seq = r.last_event_seq + 1
  where r.id = p_run_id;
  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  values (
    v_run.lenser_id, p_run_id, v_run.last_event_seq + 1, 'run.booked',
    v_about || jsonb_build_object('spent_credits', p_spent_credits));
  return true;
end;
$$;

comment on function lenses.fn_book_run_credits(uuid, text, integer, numeric) is
  'Adds p_spent_credits to what a run has spent, for the attempt p_attempt of p_worker_id whose '
  'end was not accepted: the run was cancelled, or its lease was gone and '
  'fn_complete_workflow_run or fn_fail_workflow_run returned false. Writes an event run.booked, '
  'and books an attempt once: true where it is booked, now or before; false, and nothing '
  'changed, where p_worker_id never had that attempt. 22023: not more than 0; 42501: the run''s '
  'tenant lives in another cell.';
