-- The result of a run that did not complete.
create or replace function lenses.fn_run_result(p_status text, p_cause text, p_error text)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select jsonb_build_object('status', p_status, 'cause', p_cause, 'error', left(p_error, 10000))
$$;
