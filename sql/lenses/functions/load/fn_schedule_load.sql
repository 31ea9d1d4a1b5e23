-- owner: lf_sql_engine
-- How many slots a lenser's schedules and gateway crons have, or everybody's (NULL), in each hour
-- of seven days, today's midnight first. Slots are counted from the parsed masks, not walked: a
-- distinct (spec, zone) is looked at once an hour, so that ten thousand schedules cost little more
-- than their distinct times; only those whose slots a calendar moves are walked. Where a zone
-- stands half an hour off p_timezone, the hour falls into two of its own. Guards, jitter and the
-- turn of a clock are left out.
create or replace function lenses.fn_schedule_load(p_lenser_id uuid, p_timezone text)
returns table (hour_at timestamptz, local_day date, local_hour int, slots bigint, schedules bigint)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_timezone(p_timezone);
  return query
  with hours as materialized (
    select w.local_at at time zone p_timezone as at, w.local_at
    from (
      select date_trunc('day', now() at time zone p_timezone)
        + make_interval(hours => i) as local_at
      from generate_series(0, 167) i
    ) w
  ),
  times as materialized (
    select row_number() over () as id, t.cron_spec as spec, t.timezone as zone,
      t.start_at, t.end_at,
      count(*) as total
    from (
      select s.cron_spec, s.timezone, s.start_at, s.end_at
      from lenses.workflow_schedules s
      where (p_lenser_id is null or s.lenser_id = p_lenser_id) and s.is_active
        and s.cron_expr is not null and (s.cron_spec).day_rule < 16
      union all
      select c.cron_spec, c.timezone, null, null
      from agents.gateway_crons c
      where (p_lenser_id is null or c.lenser_id = p_lenser_id) and c.is_active
    ) t
    group by t.cron_spec, t.timezone, t.start_at, t.end_at
  ),
  walls as materialized (
    select h.at, z.zone, p.wall, extract(hour from p.wall)::int as hour, p.mask,
      extract(month from p.wall)::int - 1 as month, extract(day from p.wall)::int - 1 as day,
      extract(dow from p.wall)::int as weekday,
      extract(dow from date_trunc('month', p.wall))::int as month_weekday,
      extract(day from date_trunc('month', p.wall) + interval '1 month' - interval '1 day')::int
        as month_length
    from hours h
    cross join (select distinct t.zone from times t) z
    cross join lateral (select h.at at time zone z.zone as wall) w
    cross join lateral (select extract(minute from w.wall)::int as past) o
    cross join lateral (
      values
        (w.wall, (1::bigint << 60) - (1::bigint << o.past)),
        (w.wall + interval '1 hour', (1::bigint << o.past) - 1)
    ) p (wall, mask)
    where p.mask <> 0
  ),
  fires as (
    select w.at, max(t.total) as total,
      sum(t.total * bit_count(((t.spec).minutes & w.mask)::bit(64))) as slots
    from walls w
    inner join times t on t.zone = w.zone
    where ((t.spec).hours >> w.hour) & 1 = 1
      and ((t.spec).months >> w.month) & 1 = 1
      and case
        when (t.spec).day_rule = 3
          then (((t.spec).days >> w.day) | ((t.spec).weekdays >> w.weekday)) & 1 = 1
        when (t.spec).day_rule > 3
          then (lenses.fn_cron_item_days(t.spec, w.month_length, w.month_weekday) >> w.day) & 1 = 1
        else ((t.spec).days >> w.day) & ((t.spec).weekdays >> w.weekday) & 1 = 1
      end
      and (t.spec).minutes & w.mask <> 0
      and (t.start_at is null or t.start_at < w.at + interval '1 hour')
      and (t.end_at is null or t.end_at >= w.at)
    group by w.at, t.id
    union all
    select h.at, 1, k.slots
    from hours h
    inner join lenses.workflow_schedules s
      on (p_lenser_id is null or s.lenser_id = p_lenser_id) and s.is_active
      and s.interval_ms is not null
      and s.next_run_at < h.at + interval '1 hour' and (s.end_at is null or s.end_at >= h.at)
    cross join lateral (
      select
        ceil(extract(epoch from h.at + interval '1 hour' - s.next_run_at) * 1000 / s.interval_ms)
        - greatest(
          ceil(extract(epoch from h.at - s.next_run_at) * 1000 / s.interval_ms), 0) as slots
    ) k
    where k.slots > 0
    union all
    select w.at, count(distinct w.id), count(*)
    from (
      select s.id, (
        select max(h.at) from hours h where h.at <= n.slot
      ) as at
      from (select min(h.at) as since, max(h.at) + interval '1 hour' as until from hours h) b
      inner join lenses.workflow_schedules s
        on (p_lenser_id is null or s.lenser_id = p_lenser_id) and s.is_active
        and (s.run_at is not null or (s.cron_spec).day_rule > 15)
      cross join lateral lenses.fn_next_slots(
        s.id, b.since - interval '1 microsecond', b.until - interval '1 microsecond', 10080
      ) as n (slot)
    ) w
    group by w.at
  )
  select h.at, h.local_at::date, extract(hour from h.local_at)::int,
    coalesce(sum(f.slots), 0)::bigint,
    coalesce(sum(f.total), 0)::bigint
  from hours h
  left join fires f on f.at = h.at
  group by h.at, h.local_at
  order by h.local_at;
end;
$$;
