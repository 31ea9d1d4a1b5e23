-- For the owner: the dates of the caller's calendar, or of a seed, within a range.
create or replace function public.fn_get_calendar_dates(
  p_calendar_id uuid,
  p_from date,
  p_until date
)
returns setof date
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_is_range boolean;
begin
  if not exists (
    select from lenses.schedule_calendars as c
    where c.id = p_calendar_id and (c.lenser_id = v_lenser_id or c.lenser_id is null))
  then
    perform lenses.fn_require_calendar(p_calendar_id);
  end if;
  v_is_range := p_from between date '1970-01-01' and date '9999-12-31'
    and p_until between p_from and date '9999-12-31';
  if v_is_range then
    v_is_range := p_until - p_from <= 36600;
  end if;
  if v_is_range is not true then
    raise exception using
      errcode = '22023',
      column = 'until',
      message = format(
        'the range from %s through %s cannot be listed',
        coalesce(p_from::text, 'NULL'), coalesce(p_until::text, 'NULL')
      ),
      hint = 'Give the first and the last day, from 1970-01-01 to 9999-12-31, a century at most.';
  end if;
  return query
  select d from lenses.fn_calendar_dates(p_calendar_id, p_from, p_until) as d order by d;
end;
$$;

comment on function public.fn_get_calendar_dates(uuid, date, date) is
  'The dates from p_from through p_until (36,600 days at most) that a calendar of the caller or a '
  'seed lists or has by rule, in order. 22023: no such range; 42501: not the caller''s calendar.';
