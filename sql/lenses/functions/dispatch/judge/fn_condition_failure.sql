-- owner: lf_sql_engine
-- Why a schedule's condition does not let a slot pass: NULL it does; 'false'; or the error it
-- raised, since it fails closed. p_context is that of the workflow, to which the schedule's signal
-- comes here. Errors of the server's own are raised again: they are nobody's fault.
create or replace function lenses.fn_condition_failure(
  p_schedule_id uuid,
  p_condition jsonb,
  p_context jsonb
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when automation.fn_eval_filter(p_condition, p_context || jsonb_build_object(
      'signal_rpc_result', lenses.fn_condition_signal(p_schedule_id))) then null
    else 'false' end;
exception
  when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    return 'raised ' || sqlstate || ': ' || left(sqlerrm, 500);
end;
$$;
