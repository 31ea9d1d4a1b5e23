-- owner: lf_sql_engine
-- Where moved slots came from, for people: "moved from Fri 25 Dec: us-federal-holidays". No row for
-- a slot that did not move. Where several slots moved to one, the text names the first and counts
-- the rest. The slots are those of one stretch: what lies between them is looked at too.
create or replace function lenses.fn_moved_texts(
  p_schedule lenses.workflow_schedules,
  p_slots timestamptz[]
)
returns table (slot timestamptz, moved_from text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if ((p_schedule.cron_spec).day_rule > 15) is not true then
    return;
  end if;
  return query
  select q.slot, format('moved from %s%s: %s',
    to_char(q.first_origin at time zone p_schedule.timezone, 'Dy DD Mon'),
    case when q.origins > 1 then format(' and %s more', q.origins - 1) else '' end,
    (select c.name from lenses.schedule_calendars as c where c.id = p_schedule.calendar_id))
  from (
    select m.slot, min(m.origin) as first_origin, count(distinct m.origin) as origins
    from (select min(s) as first, max(s) as last from unnest(p_slots) as s) as b
    cross join lateral lenses.fn_cron_moves(
      p_schedule.cron_spec, p_schedule.timezone,
      case when (p_schedule.cron_spec).day_rule & 32 = 0
        then lenses.fn_calendar_barrier(p_schedule.calendar_id, b.first, -1) else b.first end,
      case when (p_schedule.cron_spec).day_rule & 32 = 0
        then b.last else lenses.fn_calendar_barrier(p_schedule.calendar_id, b.last, 1) end
    ) as m
    inner join (select distinct s as slot from unnest(p_slots) as s) as w on w.slot = m.slot
    where m.origin <> m.slot
    group by m.slot
  ) as q;
end;
$$;
