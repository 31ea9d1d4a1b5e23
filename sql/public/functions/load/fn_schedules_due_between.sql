-- For the owner: which schedules make up an hour of fn_schedule_load. Slots are counted once for
-- each distinct (spec, zone, window), not listed, so that ten thousand schedules cost little more
-- than their distinct times. Guards, jitter and pauses that end are left out, as there.
create or replace function public.fn_schedules_due_between(
  p_from timestamptz,
  p_until timestamptz,
  p_limit integer default 500
)
returns table (schedule_id uuid, resource_type text, slots bigint, first_at timestamptz)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_after constant timestamptz := p_from - interval '1 microsecond';
  v_last constant timestamptz := p_until - interval '1 microsecond';
begin
  perform lenses.fn_check_instant(p_from, 'p_from');
  perform lenses.fn_check_instant(p_until, 'p_until');
  if (p_from < p_until and p_until - p_from <= interval '31 days') is not true then
    raise exception using
      errcode = '22023',
      column = 'until',
      message = format(
        'the range from %s to %s is not valid',
        coalesce(p_from::text, 'NULL'), coalesce(p_until::text, 'NULL')
      ),
      hint = 'Give p_until after p_from, 31 days at most.';
  elsif p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('limit is "%s"; it cannot be negative', p_limit),
      hint = 'Give 1 to 500.';
  end if;
  return query
  with firing as materialized (
    select s.id, 'workflow' as kind, s.cron_spec as spec, s.timezone as zone, s.interval_ms,
      s.start_at, s.end_at,
      case when s.interval_ms is not null then s.created_at end as created_at, s.run_at
    from lenses.workflow_schedules as s
    where s.lenser_id = v_lenser_id and s.is_active
    union all
    select c.id, 'gateway', c.cron_spec, c.timezone, null, null, null, null, null
    from agents.gateway_crons as c
    where c.lenser_id = v_lenser_id and c.is_active
  ),
  times as (
    select array_agg(f.id) as ids, f.kind, f.spec, f.zone, f.interval_ms, f.start_at, f.end_at,
      f.created_at
    from firing as f
    where f.run_at is null
    group by f.kind, f.spec, f.zone, f.interval_ms, f.start_at, f.end_at, f.created_at
  ),
  counted as (
    select t.*, lenses.fn_next_slot(
      t.spec, t.zone, t.interval_ms, t.created_at, t.start_at, t.end_at, v_after) as first_at
    from times as t
  ),
  found as (
    select u.id, c.kind, c.first_at, case
      when c.interval_ms is null
        then lenses.fn_cron_count(
          c.spec, c.zone, c.first_at - interval '1 microsecond', least(v_last, c.end_at))
      else floor(
        extract(epoch from least(v_last, c.end_at) - c.first_at) * 1000 / c.interval_ms)::bigint + 1
      end as total
    from (select * from counted where first_at <= v_last offset 0) as c
    cross join lateral (select unnest(c.ids) as id) as u
    union all
    select f.id, f.kind, f.run_at, 1
    from firing as f
    where f.run_at between p_from and v_last
      and coalesce(f.run_at >= f.start_at, true) and coalesce(f.run_at <= f.end_at, true)
  )
  select f.id, f.kind, f.total, f.first_at
  from found as f
  order by 4, 1
  limit least(coalesce(p_limit, 500), 500);
end;
$$;

comment on function public.fn_schedules_due_between(timestamptz, timestamptz, integer) is
  'The caller''s active schedules and gateway crons that have a slot from p_from until before '
  'p_until (31 days at most), the first to come first, p_limit (at most 500) of them: '
  'schedule_id (a cron''s id for a gateway), resource_type, slots (how many there), first_at. '
  '22023: a bad range of time, or a negative limit; 42501: no caller.';
