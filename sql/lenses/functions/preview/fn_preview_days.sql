-- owner: lf_sql_engine
-- What will happen to the slots of coming days, for people to read and compare: one row for each
-- schedule, day in its own zone, decision and reason. It decides as the preview does: guards that
-- look at runs see this moment. For one schedule, for those of a tenant, or for all (both NULL);
-- inactive ones are left out. It goes schedule by schedule, so that memory is bounded by the slots
-- of one.
create or replace function lenses.fn_preview_days(
  p_from date,
  p_days integer,
  p_schedule_id uuid,
  p_lenser_id uuid
)
returns table (
  schedule_id uuid, schedule text, workflow text, timezone text, day date, decision text,
  reason text, slots integer, first_at timestamptz, last_at timestamptz, wall_times text[]
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most constant integer := 100000;
  v_left integer := c_most;
  v_schedule lenses.workflow_schedules;
  v_found record;
  v_zone text;
  v_slots timestamptz[];
begin
  if p_days is null or p_days not between 1 and 366 then
    raise exception using
      errcode = '22023',
      column = 'days',
      message = format('p_days %s is out of range', coalesce(p_days::text, 'NULL')),
      hint = 'Ask for 1 to 366 days.';
  elsif p_from is null or p_from not between date '1970-01-02' and date '9998-12-30' then
    raise exception using
      errcode = '22023',
      column = 'from',
      message = format('p_from %s is out of range', coalesce(p_from::text, 'NULL')),
      hint = 'Give a date of the years 1970 to 9998.';
  end if;
  for v_found in
    select s as schedule, w.title
    from lenses.workflow_schedules as s
    inner join lenses.workflows as w on w.id = s.workflow_id
    where s.is_active and (p_schedule_id is null or s.id = p_schedule_id)
      and (p_lenser_id is null or s.lenser_id = p_lenser_id)
    order by lenses.fn_schedule_label(s.name, s.description, w.title) collate "C", s.id
  loop
    v_schedule := v_found.schedule;
    v_zone := case when v_schedule.cron_expr is null then 'UTC' else v_schedule.timezone end;
    v_slots := array(
      select n from lenses.fn_next_slots(
        v_schedule.id, (p_from::timestamp at time zone v_zone) - interval '1 microsecond',
        ((p_from + p_days)::timestamp at time zone v_zone) - interval '1 microsecond', v_left + 1
      ) as n);
    v_left := v_left - cardinality(v_slots);
    if v_left < 0 then
      raise exception using
        errcode = '22023',
        column = 'days',
        message = format(
          'there are more than %s slots in %s days from %s on', c_most, p_days, p_from
        ),
        hint = 'Ask for fewer days, or for one schedule.';
    end if;
    return query
    select
      v_schedule.id, lenses.fn_schedule_label(
        v_schedule.name, v_schedule.description, v_found.title),
      v_found.title, v_zone, q.day, q.decision, q.reason, count(*)::integer, min(q.slot),
      max(q.slot),
      case when count(*) <= 6
        then array_agg(to_char(q.slot at time zone v_zone, 'HH24:MI') order by q.slot) end
    from (
      select
        d.slot, (d.slot at time zone v_zone)::date as day, d.decision,
        coalesce(d.reason, m.moved_from, 'ok') as reason
      from lenses.fn_evaluate_slots(
        array(
          select row(v_schedule.id, n, n, false, null)::lenses.slot_candidate
          from unnest(v_slots) as n
        ), now(), 'preview') as d
      left join lenses.fn_moved_texts(v_schedule, v_slots) as m on m.slot = d.slot
    ) as q
    group by q.day, q.decision, q.reason
    order by q.day, min(q.slot);
  end loop;
end;
$$;
