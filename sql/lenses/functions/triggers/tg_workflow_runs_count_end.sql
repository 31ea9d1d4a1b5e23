-- owner: lf_sql_engine
-- A run that is over, or that starts once more, as a change of lenses.run_counts.
create or replace function lenses.tg_workflow_runs_count_end()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_succeeded constant integer :=
    (new.status = 'completed')::integer - (old.status = 'completed')::integer;
  v_failed constant integer := (new.status in ('failed', 'timed_out'))::integer
    - (old.status in ('failed', 'timed_out'))::integer;
  v_id bigint;
begin
  if (v_succeeded <> 0 or v_failed <> 0) and new.created_at > now() - interval '48 hours' then
    insert into lenses.run_counts (lenser_id, workflow_id, instant, succeeded, failed)
    values (new.lenser_id, new.workflow_id, new.created_at, v_succeeded, v_failed)
    returning id into v_id;
    if v_id % 128 = 0 then
      perform lenses.fn_fold_run_counts(new.lenser_id, new.workflow_id);
    end if;
  end if;
  return null;
end;
$$;
