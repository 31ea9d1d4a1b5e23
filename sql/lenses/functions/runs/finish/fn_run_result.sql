-- The result of a run that did not complete. PL/pgSQL: an SQL function would be planned in each
-- transaction.
create or replace function lenses.fn_run_result(p_status text, p_cause text, p_error text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('status', p_status, 'cause', p_cause, 'error', left(p_error, 10000));
end;
$$;
