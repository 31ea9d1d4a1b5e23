-- owner: lf_sql_engine
-- An edit moves a schedule on while slots of the old rule wait: logs those up to p_until, one row
-- for all in a row, as of p_now. Whether jitter has put one off is the same, since the next slot is
-- looked for after them. Slots that were dropped before have their rows. Where the zone is gone the
-- next slot alone is known.
create or replace function lenses.fn_log_edited(
  p_old lenses.workflow_schedules,
  p_until timestamptz,
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain lenses.workflow_schedules := p_old;
  v_stretch tstzrange;
  v_after timestamptz;
  v_first timestamptz;
  v_slots record;
begin
  if not lenses.fn_has_zone(p_old.timezone) then
    perform lenses.fn_log_missed(
      p_old.lenser_id, p_old.id, 1, p_old.next_run_at, p_old.next_run_at, p_now,
      'schedule_edited');
    return;
  end if;
  v_plain.jitter_ms := 0;
  for v_stretch in
    select r
    from unnest(
      tstzmultirange(tstzrange(p_old.next_run_at, p_until, '[]'))
      - coalesce(p_old.dropped, '{}')) as r
  loop
    -- a next slot that was set by hand is none of the rule's
    v_first := case when lower(v_stretch) = p_old.next_run_at then p_old.next_run_at end;
    v_after := coalesce(v_first, lower(v_stretch) - case when lower_inc(v_stretch)
      then interval '1 microsecond' else interval '0' end);
    select * into v_slots
    from lenses.fn_slots_due_before(v_plain, v_after, upper(v_stretch) - case
      when upper_inc(v_stretch) then interval '0' else interval '1 microsecond' end);
    continue when v_first is null and v_slots.slot_count = 0;
    perform lenses.fn_log_missed(
      p_old.lenser_id, p_old.id, v_slots.slot_count + (v_first is not null)::integer,
      coalesce(v_first, lenses.fn_next_slot(
        p_old.cron_spec, p_old.timezone, p_old.interval_ms, p_old.created_at, p_old.start_at,
        p_old.end_at, v_after)),
      coalesce(v_slots.last_slot, v_first), p_now, 'schedule_edited');
  end loop;
end;
$$;
