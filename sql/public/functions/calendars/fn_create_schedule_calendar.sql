-- For the owner.
create or replace function public.fn_create_schedule_calendar(
  p_name text,
  p_kind text,
  p_timezone text,
  p_dates date[],
  p_clone_of uuid default null,
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
  v_from lenses.schedule_calendars;
  v_row lenses.schedule_calendars;
begin
  if p_clone_of is not null then
    select c.* into v_from
    from lenses.schedule_calendars as c
    where c.id = p_clone_of and (c.lenser_id = v_lenser_id or c.lenser_id is null);
    if not found then
      v_from := lenses.fn_require_calendar(p_clone_of);
    end if;
  end if;
  begin
    insert into lenses.schedule_calendars as c (lenser_id, name, kind, timezone, dates, rules)
    values (
      v_lenser_id, coalesce(p_name, v_from.name), coalesce(p_kind, v_from.kind),
      coalesce(p_timezone, v_from.timezone, 'UTC'), coalesce(p_dates, v_from.dates, '{}'),
      coalesce(p_rules, v_from.rules, '[]')
    )
    returning c.* into v_row;
  exception when unique_violation then
    perform lenses.fn_refuse_calendar_name(coalesce(p_name, v_from.name));
  end;
  return v_row;
end;
$$;

comment on function public.fn_create_schedule_calendar(text, text, text, date[], uuid, jsonb) is
  'Creates a calendar of the caller: p_kind skip_dates or only_dates, p_timezone IANA (NULL: '
  'UTC), p_dates up to 10,000 dates, kept sorted and distinct, p_rules an array of rules whose '
  'dates are in as well: {"weekdays":["SAT"]}, {"month_day":"12-25","observed":true}, '
  '{"nth":{"weekday":"MON","n":-1,"month":5}}, {"easter":-2}, {"orthodox_easter":0}, '
  '{"calendar":"<id>"}, each with "from", "until" and "except" where wanted. p_clone_of takes '
  'what is NULL from one of the caller''s calendars or a seed. Returns the row. 22023: bad input; '
  '23505: the caller has a calendar of that name (capitals count); 42501: p_clone_of is not the '
  'caller''s.';
