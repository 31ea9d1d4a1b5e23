-- The visual builder's choices as an expression, for any authenticated caller. It is definer
-- because the schema lenses is not open to tenants; it reads no table.
create or replace function public.fn_cron_build(p jsonb)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select lenses.fn_cron_build(p)
$$;

comment on function public.fn_cron_build(jsonb) is
  'A cron expression from {"frequency": "hourly|daily|weekly|monthly", "minute", "hour", "days", '
  '"day_of_month"}; days are 0-7 or names for weekly, items such as FRI#2 or FRIL for monthly; '
  'day_of_month is 1-31, L, L-n, nW or LW. Raises 22023 for any other choice.';
