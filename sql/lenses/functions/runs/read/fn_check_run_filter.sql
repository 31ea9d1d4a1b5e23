-- The filter of public.fn_get_runs as it is looked at: without what is null, status and trigger as
-- arrays without doubles, or missing where they are empty. Raises 22023 at the first fault.
create or replace function lenses.fn_check_run_filter(p_filter jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_filter jsonb := coalesce(p_filter, '{}');
  v_key text;
begin
  perform lenses.fn_check_json(v_filter, 'p_filter', 16384, 4, 256);
  if jsonb_typeof(v_filter) = 'object' then
    v_filter := jsonb_strip_nulls(v_filter);
    foreach v_key in array array['status', 'trigger'] loop
      if jsonb_typeof(v_filter -> v_key) = 'string' then
        v_filter := jsonb_set(v_filter, array[v_key], jsonb_build_array(v_filter -> v_key));
      end if;
    end loop;
  end if;
  perform lenses.fn_check_policy('p_filter', v_filter, '{
    "status": {"type": "words", "max": 20, "length": 40, "values": [
      "pending_approval", "pending", "running", "completed", "failed", "cancelled", "timed_out"]},
    "trigger": {"type": "words", "max": 20, "length": 40, "values": [
      "schedule", "manual", "backfill"]},
    "schedule": {"type": "uuid"},
    "workflow": {"type": "uuid"},
    "since": {"type": "text"},
    "until": {"type": "text"},
    "before_run": {"type": "uuid"}
  }');
  foreach v_key in array array['status', 'trigger'] loop
    v_filter := v_filter - v_key || coalesce((
      select jsonb_build_object(v_key, jsonb_agg(distinct e.value))
      from jsonb_array_elements(v_filter -> v_key) as e
      having count(*) > 0
    ), '{}');
  end loop;
  return v_filter;
end;
$$;
