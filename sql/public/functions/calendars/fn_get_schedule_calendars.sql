-- For the owner: the seeds first, then the caller's own.
create or replace function public.fn_get_schedule_calendars()
returns setof lenses.schedule_calendars
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  return query
  select c.*
  from lenses.schedule_calendars as c
  where c.lenser_id = v_lenser_id or c.lenser_id is null
  order by c.is_seed desc, c.name, c.id;
end;
$$;

comment on function public.fn_get_schedule_calendars() is
  'The calendars the caller can attach: the seeds and the caller''s own, by name. 42501: no '
  'caller.';
