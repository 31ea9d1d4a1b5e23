-- For the owner: one of the caller's schedules, or all. For service_role: any, or those of all
-- tenants.
create or replace function public.fn_preview_days(
  p_from date default (now() at time zone 'UTC')::date,
  p_days integer default 31,
  p_schedule_id uuid default null
)
returns table (
  schedule_id uuid, schedule text, workflow text, timezone text, day date, decision text,
  reason text, slots integer, first_at timestamptz, last_at timestamptz, wall_times text[]
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id uuid;
begin
  if not lenses.fn_is_operator() then
    v_lenser_id := lensers.fn_require_lenser();
    if p_schedule_id is not null then
      perform lenses.fn_require_schedule(p_schedule_id);
    end if;
  end if;
  return query
  select * from lenses.fn_preview_days(p_from, p_days, p_schedule_id, v_lenser_id);
end;
$$;

comment on function public.fn_preview_days(date, integer, uuid) is
  'What will happen to the slots of p_days days (1 to 366) from p_from on (today in UTC), of one '
  'active schedule of the caller''s or of all (service_role: of any), as the preview judges them: '
  'a row a schedule, day of its own zone, decision (dispatch, skip, defer) and reason, with '
  'schedule (name, else description, else title), workflow, timezone, slots (how many), first_at '
  'and last_at (UTC instants) and wall_times (of at most six slots; else NULL). 22023: p_days or '
  'p_from out of range, more than 100000 slots; 42501: not the caller''s schedule.';
