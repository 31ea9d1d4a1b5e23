-- A cron expression in English, for any authenticated caller. It is definer because the schema
-- lenses is not open to tenants; it reads no table.
create or replace function public.fn_cron_describe(p_cron_expr text)
returns text
language sql
immutable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select lenses.fn_cron_describe(p_cron_expr)
$$;

comment on function public.fn_cron_describe(text) is
  'A cron expression as one English sentence, in 24-hour times. Raises 22023 for a bad expression.';
