-- For the owner: the instants themselves, to show a range of time that the preview does not reach.
-- Guards, jitter and pauses are left out: the preview and the ledger have the decisions.
create or replace function public.fn_get_slots(
  p_schedule_ids uuid[],
  p_from timestamptz,
  p_until timestamptz,
  p_limit integer default 200
)
returns table (schedule_id uuid, slot_at timestamptz)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_after constant timestamptz := p_from - interval '1 microsecond';
  v_last constant timestamptz := p_until - interval '1 microsecond';
  v_limit constant integer := least(coalesce(p_limit, 200), 200);
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
  elsif p_limit < 1 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('limit is "%s"; it must be 1 or more', p_limit),
      hint = 'Give 1 to 200 slots of each.';
  elsif cardinality(p_schedule_ids) > 100 then
    raise exception using
      errcode = '22023',
      column = 'schedule_ids',
      message = format('%s schedules are too many at once', cardinality(p_schedule_ids)),
      hint = 'Give the ids of at most 100.';
  end if;
  return query
  select s.id, n.slot
  from lenses.workflow_schedules as s
  cross join lateral lenses.fn_next_slots(s.id, v_after, v_last, v_limit) as n (slot)
  where s.lenser_id = v_lenser_id and s.id = any(p_schedule_ids)
  union all
  select c.id, n.slot
  from agents.gateway_crons as c
  cross join lateral lenses.fn_cron_next(
    c.cron_expr, c.timezone, v_after, v_limit) as n (slot)
  where c.lenser_id = v_lenser_id and c.id = any(p_schedule_ids) and n.slot <= v_last;
end;
$$;

comment on function public.fn_get_slots(uuid[], timestamptz, timestamptz, integer) is
  'The slots of the caller''s schedules and gateway crons of these ids (100 at most; others are '
  'left out) from p_from until before p_until (31 days at most), the first p_limit (at most 200) '
  'of each: schedule_id, slot_at. By the rule alone, active or not; fn_preview_schedule_ticks '
  'says what will happen to a slot. 22023: a bad range of time, too many ids, a bad limit; '
  '42501: no caller.';
