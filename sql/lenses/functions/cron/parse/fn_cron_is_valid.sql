-- Whether an expression is in the grammar; never raises. NULL is not.
create or replace function lenses.fn_cron_is_valid(p_cron_expr text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_cron_parse(p_cron_expr);
  return true;
exception
  when invalid_parameter_value then
    return false;
end;
$$;

comment on function lenses.fn_cron_is_valid(text) is
  'True for a cron expression that lenses.fn_cron_parse takes; false for all else, never an error.';
