-- How far a search of slots that move must look beyond p_at, before it where p_step is -1, after it
-- where it is 1: what lies farther away comes to p_at's other side never, or to a slot that
-- something nearer comes to as well. Far from any change of a clock all days that an open date
-- stands for give it the same times of day, so one closed day is enough, and a week of them where
-- the expression chooses weekdays. Otherwise lenses.fn_calendar_barrier says it.
create or replace function lenses.fn_cron_reach(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_at timestamptz,
  p_step integer
)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_barrier timestamptz := lenses.fn_calendar_barrier(p_spec.calendar_id, p_at, p_step);
  v_days integer := case p_spec.day_rule & 7 when 0 then 1 when 1 then 7 end;
  v_minute bigint;
  v_zone text;
begin
  if v_days is null
    or v_barrier between p_at - (v_days + 2) * interval '1 day'
      and p_at + (v_days + 2) * interval '1 day' then
    return v_barrier;
  end if;
  v_minute := floor(extract(epoch from p_at) / 60)::bigint + lenses.fn_cron_epoch();
  select w.timezone into v_zone from lenses.fn_calendar_window(p_spec.calendar_id, p_at, p_at) as w;
  -- from the farthest of these days, over the 31 that a slot may move, and some more
  if lenses.fn_cron_turns(
    array[p_timezone, v_zone], v_minute - case p_step when 1 then 36 else v_days + 4 end * 1440,
    v_minute + case p_step when 1 then v_days + 4 else 36 end * 1440) <> '{}' then
    return v_barrier;
  end if;
  return ((p_at at time zone v_zone)::date + p_step * v_days + (p_step > 0)::integer)::timestamp
    at time zone v_zone - (p_step < 0)::integer * interval '3 hours';
end;
$$;
