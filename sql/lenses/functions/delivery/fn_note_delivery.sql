-- owner: lf_sql_engine
-- Why nothing goes out: kept in the delivery's row, for health; written anew only where it changes.
create or replace function lenses.fn_note_delivery(p_name text, p_error text, p_now timestamptz)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
update lenses.deliveries as d
set last_error = left(p_error, 2000), last_error_at = p_now, failures = greatest(d.failures, 1)
where d.name = p_name and (d.last_error is distinct from left(p_error, 2000) or d.failures = 0)
$$;
