-- The result of a run as conditions see it: with a status, whatever the executor returned. A run
-- that is not over has none of its own.
create or replace function lenses.fn_prior_result(p_status text, p_result jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_status not in ('completed', 'failed', 'cancelled', 'timed_out') then p_result
    when jsonb_typeof(p_result) = 'object' then jsonb_build_object('status', p_status) || p_result
    when p_status = 'completed'
      then jsonb_build_object('status', p_status, 'value', coalesce(p_result, 'null'))
    else lenses.fn_run_result(
      p_status, case p_status when 'timed_out' then 'timeout' else p_status end, null)
  end;
end;
$$;
