-- The COLUMN of an error about p_name, as messages call a field: a parameter without its p_, a key
-- without the object that holds it where the keys are columns (patch.cron_expr is cron_expr). A
-- path into a value stays as it is: retry_policy.maxRetries, rules[2].except[0].
create or replace function lenses.fn_error_column(p_name text)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case p_name
    when 'filter' then 'pre_dispatch_condition'
    else regexp_replace(
      p_name, '^((p_)|(patch|settings|delivery|workflow|trigger ".*")[.])', '')
  end
$$;
