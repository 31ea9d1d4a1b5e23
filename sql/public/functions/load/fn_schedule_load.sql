-- For the owner: the load of the caller's schedules. For service_role: that of all tenants, unless
-- it acts as one.
create or replace function public.fn_schedule_load(p_timezone text default 'UTC')
returns table (hour_at timestamptz, local_day date, local_hour int, slots bigint, schedules bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select l.*
  from lenses.fn_schedule_load(
    case when not lenses.fn_is_operator() then lensers.fn_require_lenser() end, p_timezone) as l
$$;

comment on function public.fn_schedule_load(text) is
  'How many slots the caller''s active schedules and gateway crons have (service_role: '
  'everybody''s) in each of 168 hours from today''s midnight in p_timezone, and how many '
  'schedules they belong to. 22023: an unknown zone; 42501: no tenant is calling.';
