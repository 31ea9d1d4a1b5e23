-- owner: lf_sql_engine
-- Validates a row that reaches workflow_schedules by any path, and sets its next_run_at and due_at.
-- An edit of the rule looks for the next slot after now. An explicit next_run_at is kept; NULL
-- means "compute it", and so does any save that finds it missing. Activating a paused schedule
-- applies onMissed to what passed since. Where the server has lost the zone the due row waits for
-- it. The dispatcher's own writes (dispatch_seq moves) never come here.
create or replace function lenses.tg_workflow_schedules_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  -- The transaction may have begun long ago, or may have waited for the row.
  v_now timestamptz := greatest(now(), clock_timestamp());
  v_old lenses.workflow_schedules;
  v_is_rule_changed boolean;
  v_is_explicit boolean;
  v_is_resumed boolean;
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  if tg_op = 'UPDATE' then
    v_old := old;
  end if;
  new := lenses.fn_prepare_schedule(new, v_old);
  if tg_op = 'UPDATE' and v_old.max_in_flight is null and new.max_in_flight is not null then
    -- Claims are not counted for a schedule without a limit, so all of them must end before it gets
    -- one. New runs wait for this edit. A claim with an older snapshot fails on the rows that are
    -- written here.
    perform from lenses.workflow_schedules as s where s.id = v_old.id for update;
    update lenses.workflow_runs as r
    set status = r.status
    from (
      select q.id
      from lenses.workflow_runs as q
      where q.schedule_id = v_old.id and q.status in ('pending_approval', 'pending', 'running')
        and q.status || '' = 'pending'
      order by q.id
      for no key update
    ) as p
    where r.id = p.id;
  end if;
  if tg_op = 'UPDATE' and new.updated_at = old.updated_at
    and (new.due_at is not distinct from old.due_at
      or new.next_run_at is distinct from old.next_run_at) then
    new.updated_at := now();
  end if;

  v_is_explicit := case when tg_op = 'INSERT' then new.next_run_at is not null
    else new.next_run_at is distinct from v_old.next_run_at end;
  v_is_rule_changed := tg_op = 'INSERT' or (
    new.schedule_type, new.cron_expr, new.interval_ms, new.timezone, new.start_at, new.end_at,
    new.jitter_ms, new.run_at, (new.cron_spec).calendar_id, (new.cron_spec).day_rule / 16
  ) is distinct from (
    v_old.schedule_type, v_old.cron_expr, v_old.interval_ms, v_old.timezone, v_old.start_at,
    v_old.end_at, v_old.jitter_ms, v_old.run_at, (v_old.cron_spec).calendar_id,
    (v_old.cron_spec).day_rule / 16)
    -- the anchor of an interval without start_at
    or new.interval_ms is not null and new.start_at is null and new.created_at <> v_old.created_at;
  v_is_resumed := new.is_active and v_old.paused_at is not null;

  if v_is_explicit then
    if tg_op = 'UPDATE' then
      if v_old.next_run_at <= v_now and (v_old.is_active or v_old.paused_at is not null)
        and coalesce(new.next_run_at, v_now) > v_old.next_run_at then
        perform lenses.fn_log_edited(
          v_old, least(v_now, new.next_run_at - interval '1 microsecond'), v_now);
      end if;
      new := lenses.fn_forget_backlog(new);
      -- No tick can have seen a slot that was written only now.
      new.missed_before := case when new.next_run_at < v_now then (
        select v_now - d.missed_grace from lenses.dispatch_settings as d) end;
    end if;
  elsif v_is_rule_changed then
    if (v_old.is_active or v_old.paused_at is not null) and v_old.next_run_at <= v_now then
      perform lenses.fn_log_edited(v_old, v_now, v_now);
    end if;
    new := lenses.fn_forget_backlog(new);
    new.next_run_at := lenses.fn_free_slot(new, v_now, v_now);
  elsif v_is_resumed then
    new := lenses.fn_apply_resume(new, v_old, v_now);
  elsif not v_old.is_active and v_old.paused_at is null and new.next_run_at <= v_now
    and (new.is_active or new.paused_at is not null or new.paused_until is not null) then
    -- It was disabled: what passed meanwhile is owed neither when it is enabled nor by a pause.
    new := lenses.fn_forget_backlog(new);
    new.next_run_at := case when lenses.fn_has_zone(new.timezone)
      then lenses.fn_free_slot(new, v_now, v_now) end;
  elsif not new.is_active and new.paused_at is null and new.paused_until is null
    and (v_old.is_active or v_old.paused_at is not null) and v_old.next_run_at <= v_now then
    -- Nothing is owed while it is disabled, and enabling looks for the next slot.
    perform lenses.fn_log_edited(v_old, v_now, v_now);
    new := lenses.fn_forget_backlog(new);
  end if;

  if new.next_run_at is null then
    if lenses.fn_has_zone(new.timezone) then
      new := lenses.fn_place_schedule(new, v_now, v_now);
    else
      update lenses.schedule_due as d set awaits_zone = new.timezone where d.schedule_id = new.id;
    end if;
  end if;

  if new.is_active then
    new.paused_at := null;
    new.paused_until := null;
    if tg_op = 'UPDATE' and not v_old.is_active and new.pause_note = v_old.pause_note then
      new.pause_note := null;
    end if;
    if new.next_run_at is null then
      new.due_at := null;
    elsif new.due_at is null or new.due_at is not distinct from v_old.due_at and (
      v_is_explicit or v_is_rule_changed or v_is_resumed or not coalesce(v_old.is_active, true)
    ) then
      new.due_at := lenses.fn_slot_due(new.id, new.next_run_at, new.jitter_ms);
      if new.next_run_at > v_now then
        -- No tick can have seen it before, however early its jitter makes it due.
        new.due_at := greatest(new.due_at, v_now);
      end if;
    end if;
  else
    new.due_at := null;
    if v_old.is_active then
      new.missed_override := null;
    end if;
    if new.paused_until is not null and new.paused_at is null then
      new.paused_at := v_now;
    end if;
  end if;
  if tg_op = 'UPDATE' then
    new := lenses.fn_clear_mended(new, v_old);
  end if;
  return new;
end;
$$;
