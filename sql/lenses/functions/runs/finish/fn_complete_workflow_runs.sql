-- owner: lf_sql_engine
-- For executors (service_role): many runs are done. All are written with one statement for each
-- table. Where one of them is refused they are taken one at a time, each in a block of its own, so
-- that it does not stop the others. Schedules are locked in order, so that no two callers wait for
-- each other.
create or replace function lenses.fn_complete_workflow_runs(p_worker_id text, p_results jsonb)
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result jsonb;
begin
  if p_results is null or jsonb_typeof(p_results) <> 'array' or jsonb_array_length(p_results) > 1000
  then
    raise exception using
      errcode = '22023',
      column = 'results',
      message = format(
        'p_results must be an array of at most 1000 results, not %s',
        coalesce('"' || left(p_results::text, 60) || '"', 'NULL')
      ),
      hint = 'Give [{"run_id": …, "attempt": …, "result": …, "spent_credits": …}, …].';
  end if;
  begin
    return query select c.id from lenses.fn_complete_together(p_worker_id, p_results) as c (id);
    return;
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
  end;
  for v_result in
    select e.value
    from jsonb_array_elements(p_results) as e
    left join lenses.workflow_runs as r on r.id = case
      when e.value ->> 'run_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then (e.value ->> 'run_id')::uuid end
    order by r.schedule_id, r.id
  loop
    begin
      if lenses.fn_complete_workflow_run(
        (v_result ->> 'run_id')::uuid, p_worker_id, v_result -> 'result',
        (v_result ->> 'spent_credits')::numeric, (v_result ->> 'attempt')::integer)
      then
        return next (v_result ->> 'run_id')::uuid;
      end if;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: the result of run % is refused: % %',
        left(v_result ->> 'run_id', 60), sqlstate, sqlerrm;
    end;
  end loop;
end;
$$;

comment on function lenses.fn_complete_workflow_runs(text, jsonb) is
  'Completes many runs that p_worker_id holds: p_results is an array of at most 1,000 '
  '{"run_id","attempt","result","spent_credits"}, each as lenses.fn_complete_workflow_run takes '
  'them (attempt and spent_credits may be left out). Gives the ids that were completed. One whose '
  'lease is lost, or whose result is refused (a warning says why), is missing there and stops no '
  'other. 22023: p_results is no such array.';
