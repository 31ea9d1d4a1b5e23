-- owner: lf_sql_engine
-- The next slots of a schedule as the tick would decide them, by the tick's own judge; changes
-- nothing. Guards that look at runs see the moment of the call in every row. An answer has at most
-- 200 rows and 16 MB of inputs, but always one row.
create or replace function lenses.fn_preview_schedule_ticks(
  p_schedule_id uuid,
  p_n integer default 10,
  p_horizon interval default '31 days'
)
returns table (tick_at timestamptz, decision text, reason text, inputs jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := now();
  -- No further than instants go; an interval has no such end.
  v_until timestamptz := v_now + case
    when greatest(
      abs(extract(year from p_horizon)), abs(extract(day from p_horizon) / 365),
      abs(extract(hour from p_horizon) / 8760)) > 1000 then interval '1000 years'
    else p_horizon end;
  v_schedule lenses.workflow_schedules;
  v_first timestamptz;
  v_largest bigint;
  v_most integer;
  v_slots timestamptz[];
begin
  if coalesce(p_n, 0) < 1 then
    raise exception using
      errcode = '22023',
      column = 'n',
      message = format('p_n %s is not positive', coalesce(p_n::text, 'NULL')),
      hint = 'Ask for 1 to 200 slots.';
  elsif p_horizon is null or p_horizon <= interval '0' then
    raise exception using
      errcode = '22023',
      column = 'horizon',
      message = format('p_horizon %s is not positive', coalesce(p_horizon::text, 'NULL')),
      hint = 'Give an interval, such as 31 days.';
  end if;
  select s.* into v_schedule from lenses.workflow_schedules as s where s.id = p_schedule_id;
  if not found or not v_schedule.is_active or v_schedule.next_run_at is null then
    return;
  end if;
  v_first := case when v_schedule.next_run_at >= v_now then v_schedule.next_run_at
    else lenses.fn_next_slot(
      v_schedule.cron_spec, v_schedule.timezone, v_schedule.interval_ms, v_schedule.created_at,
      v_schedule.start_at, v_schedule.end_at, v_now) end;
  v_largest := octet_length(
    coalesce(v_schedule.inputs_rotation, v_schedule.inputs_template)::text);
  if v_largest > 83886 and v_schedule.inputs_rotation is not null then
    select max(octet_length(e.value::text)) into v_largest
    from jsonb_array_elements(v_schedule.inputs_rotation) as e;
  end if;
  v_most := greatest(least(p_n, 200, 16777216 / nullif(v_largest, 0)), 1);
  v_slots := array(
    select v_first where v_first <= v_until
    union all
    select n from lenses.fn_next_slots(p_schedule_id, v_first, v_until, v_most - 1) as n);
  return query
  select d.slot, d.decision, coalesce(d.reason, m.moved_from, 'ok'), d.inputs
  from lenses.fn_evaluate_slots(
    array(
      select row(p_schedule_id, t, t, false, null)::lenses.slot_candidate
      from unnest(v_slots) as t
    ), v_now, 'preview') as d
  left join lenses.fn_moved_texts(v_schedule, v_slots) as m on m.slot = d.slot
  order by d.slot;
end;
$$;

comment on function lenses.fn_preview_schedule_ticks(uuid, integer, interval) is
  'The next p_n slots (at most 200, and as many as have 16 MB of inputs) of a schedule within '
  'p_horizon (at most 1,000 years) from now: tick_at (UTC instant), decision (dispatch, skip, or '
  'defer, which waits), reason (ok, where a moved slot came from, or the guard''s), inputs. No '
  'rows for a paused or unknown schedule. Errors: 22023 for p_n or p_horizon not positive.';
