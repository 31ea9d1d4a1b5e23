-- owner: lf_sql_engine
-- Ends pauses whose end has come by p_now, p_limit at most, the first ones of each tenant first;
-- returns how many. Slots before the end are late (missed_before); a slot at the end itself is on
-- time. A schedule that cannot be resumed, because its workflow has a cycle by now, stays paused
-- without an end and gets the reason as its note. It also takes the due row, which a claim may
-- hold, so that it never waits. The log tells of each.
create or replace function lenses.fn_end_pauses(p_now timestamptz, p_limit integer default 1000)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_paused lenses.workflow_schedules;
  v_ended integer := 0;
  v_error text;
begin
  -- Usually there is none, and one look into the index costs less than the query.
  if not exists (
    select from lenses.workflow_schedules as s where s.paused_until <= p_now and not s.is_active
  ) then
    return 0;
  end if;
  for v_paused in
    with over as materialized (
      select
        o.id,
        o.paused_until,
        row_number() over (partition by o.lenser_id order by o.paused_until) as turn
      from (
        select s.id, s.lenser_id, s.paused_until
        from lenses.workflow_schedules as s
        where s.paused_until <= p_now and not s.is_active
        order by s.paused_until
        limit p_limit * 50
      ) as o
    )

    select s.*
    from over as o
    inner join lenses.workflow_schedules as s on s.id = o.id
    inner join lenses.schedule_due as d on d.schedule_id = s.id
    where s.paused_until <= p_now and not s.is_active
    order by o.turn, o.paused_until
    limit p_limit
    for no key update of s, d skip locked
  loop
    begin
      update lenses.workflow_schedules as s
      set is_active = true, missed_before = s.paused_until, updated_at = p_now
      where s.id = v_paused.id;
      -- lenses.fn_undo_resumes reads it, should this clock be ahead.
      insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
      values (v_paused.lenser_id, v_paused.id, 'schedule_resumed', jsonb_build_object(
        'paused_at', v_paused.paused_at, 'paused_until', v_paused.paused_until,
        'pause_note', v_paused.pause_note, 'next_run_at', v_paused.next_run_at), p_now);
      v_ended := v_ended + 1;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      v_error := sqlerrm;
      begin
        update lenses.workflow_schedules as s
        set paused_until = null, updated_at = p_now,
          pause_note = left(format('not resumed at %s: %s', s.paused_until, v_error), 2000),
          last_error_at = p_now, last_error_message = left(v_error, 1000)
        where s.id = v_paused.id;
        v_ended := v_ended + 1;
      exception when others or assert_failure then
        if lenses.fn_is_server_error(sqlstate) then
          raise;
        end if;
        raise warning 'lf-sql: schedule % is not resumed: % %', v_paused.id, v_error, sqlerrm;
      end;
    end;
  end loop;
  return v_ended;
end;
$$;
