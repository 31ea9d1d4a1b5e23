-- owner: lf_sql_engine
-- A tick whose start lies ahead of p_now came by a wrong clock. What it put off is put back: next slots,
-- retries, what it had late or dropped; slots that have a run keep it. At most p_limit schedules a
-- call; the ticks are marked once none is left. Where the clock was never wrong it is one look into
-- an index. A step of less than a minute is none: no slot is put off by it.
create or replace function lenses.fn_undo_future(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer default 10000
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_false_ids bigint[] := array(
    select t.id from lenses.dispatch_ticks as t
    where t.started_at > p_now + interval '1 minute' and t.undone_at is null
      and t.id < p_tick_id);
  v_first record;
  v_schedule lenses.workflow_schedules;
  v_undone integer := 0;
begin
  if v_false_ids = '{}' then
    return 0;
  end if;
  select t.id, t.started_at - d.missed_grace as from_at into v_first
  from lenses.dispatch_ticks as t
  cross join lenses.dispatch_settings as d
  where t.id > (select max(i) from unnest(v_false_ids) as i)
  order by t.id
  limit 1;

  for v_schedule in
    select s.*
    from lenses.workflow_schedules as s
    inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
    where s.tick_id = any (v_false_ids)
    limit p_limit
    for no key update of s, d skip locked
  loop
    begin
      v_schedule := lenses.fn_undo_place(v_schedule, p_now, v_first.from_at, v_first.id);
      if v_schedule.tick_id = p_tick_id and v_schedule.due_at <= p_now then
        v_schedule.tick_id := null;  -- or this tick would take it for handled
      end if;
      perform lenses.fn_write_place(v_schedule);
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: schedule % stays where a clock that was ahead has put it: % %',
        v_schedule.id, sqlstate, sqlerrm;
      update lenses.workflow_schedules as s
      set tick_id = null, dispatch_seq = s.dispatch_seq + 1
      where s.id = v_schedule.id;
    end;
    perform lenses.fn_undo_runs(v_schedule.id, p_now);
    v_undone := v_undone + 1;
  end loop;

  if not exists (
    select from lenses.workflow_schedules as s where s.tick_id = any (v_false_ids)
  ) then
    perform agents.fn_undo_gateway_crons(p_now, v_first.from_at);
    update lenses.dispatch_ticks as t set undone_at = p_now where t.id = any (v_false_ids);
  end if;
  return v_undone;
end
$$;

comment on function lenses.fn_undo_future(bigint, timestamptz, integer) is
  'Puts back what ticks by a clock that was ahead of p_now have put off; returns how many schedules. '
  'The tick calls it.';
