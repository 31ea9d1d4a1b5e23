-- For the owner. Schedules use the new dates from the next slot on.
create or replace function public.fn_update_schedule_calendar(
  p_calendar_id uuid,
  p_name text default null,
  p_kind text default null,
  p_timezone text default null,
  p_dates date[] default null,
  p_rules jsonb default null
)
returns lenses.schedule_calendars
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_row lenses.schedule_calendars;
begin
  begin
    update lenses.schedule_calendars as c
    set name = coalesce(p_name, c.name),
      kind = coalesce(p_kind, c.kind),
      timezone = coalesce(p_timezone, c.timezone),
      dates = coalesce(p_dates, c.dates),
      rules = coalesce(p_rules, c.rules)
    where c.id = p_calendar_id and c.lenser_id = v_lenser_id
    returning c.* into v_row;
    if found then
      return v_row;
    end if;
  exception when unique_violation then
    perform lenses.fn_refuse_calendar_name(p_name);
  end;
  return lenses.fn_require_calendar(p_calendar_id);
end;
$$;

comment on function public.fn_update_schedule_calendar(uuid, text, text, text, date[], jsonb) is
  'Changes the caller''s calendar; NULL keeps. Returns the row. 22023: bad input; 23505: the '
  'caller has another of that name; 42501: not the caller''s, or a seed.';
