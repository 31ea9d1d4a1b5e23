-- owner: lf_sql_engine
-- The plans of due schedules. p_cap bounds the slots of a schedule now, p_max_catchup in the whole
-- tick. The usual case, one slot on time with no backlog, is planned in the query itself;
-- everything else goes through lenses.fn_plan_slots.
create or replace function lenses.fn_plan_due(
  p_schedule_ids uuid[],
  p_tick_id bigint,
  p_now timestamptz,
  p_cap integer,
  p_max_catchup integer,
  p_is_zone_lost boolean
)
returns lenses.slot_plan[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings lenses.dispatch_settings;
  v_late_until timestamptz;
begin
  select d.* into v_settings from lenses.dispatch_settings as d;
  v_late_until := lenses.fn_late_until(p_now, v_settings.missed_grace);
  if p_is_zone_lost then
    return array(
      select row(
        s.id,
        case when x.is_dropped then '{}'
          else array[row(s.id, s.next_run_at, s.next_run_at, false, null)::lenses.slot_candidate]
        end,
        null, null, null, null, null, case when x.is_dropped then 1 end,
        case when x.is_dropped then s.next_run_at end,
        case when x.is_dropped then s.next_run_at end, null, null)::lenses.slot_plan
      from lenses.workflow_schedules as s
      cross join lateral (
        select s.seen_until is null
          and coalesce(s.on_missed, v_settings.default_on_missed) = 'skip'
          and exists (
            select
            from lenses.fn_late_windows(s.next_run_at, p_now, v_settings.missed_grace) as w
            where w.from_at < s.next_run_at
          ) as is_dropped
      ) as x
      where s.id = any (p_schedule_ids));
  end if;
  return array(
    select
      case
        when q.is_plain and (q.next_slot is null or q.next_due > p_now)
          then row(
            q.id,
            array[row(q.id, q.next_run_at, q.due_at, false, null)::lenses.slot_candidate],
            q.next_slot, q.next_due, null, null, null, null, null, null, null, null
          )::lenses.slot_plan
        else (
          select lenses.fn_plan_slots(
            s, p_now, v_settings.missed_grace,
            case when q.is_sequential then 1 else least(p_cap, q.cap_left) end,
            v_settings.default_on_missed)
          from lenses.workflow_schedules as s where s.id = q.id)
      end
    from (
      select
        n.*,
        -- Without jitter a slot is due at its own time; a call for each row would cost more.
        case when n.jitter_ms = 0 then n.next_slot
          when n.next_slot is not null
            then lenses.fn_slot_due(n.id, n.next_slot, n.jitter_ms) end as next_due
      from (
        select
          s.id,
          s.next_run_at,
          s.due_at,
          s.jitter_ms,
          greatest(
            p_max_catchup - case when s.tick_id = p_tick_id then s.tick_slots else 0 end, 1
          ) as cap_left,
          s.is_sequential or exists (
            select from agents.policies as p where p.ai_lenser_id = s.assignee_id
          ) or s.assignee_type = 'team' as is_sequential,
          x.is_plain,
          case when x.is_plain then lenses.fn_next_slot(
            s.cron_spec, s.timezone, s.interval_ms, s.created_at, s.start_at, s.end_at,
            s.next_run_at) end as next_slot
        from lenses.workflow_schedules as s
        cross join lateral (
          select s.seen_until is null and s.missed is null and s.dropped is null
            and s.missed_before is null and s.due_at <= p_now
            and s.due_at >= v_late_until
            and s.due_at >= s.created_at - v_settings.missed_grace
            and (s.jitter_ms > 0 or s.due_at = s.next_run_at) as is_plain
        ) as x
        where s.id = any (p_schedule_ids)
        offset 0
      ) as n
      offset 0
    ) as q);
end;
$$;
