-- owner: lf_sql_engine
-- A tick that starts ahead of p_now came from a wrong clock. This undoes what it put off: next
-- slots, retries, slots that it called late or dropped. Slots that have a run keep it. Handles
-- p_limit schedules at most, set-wise, and row by row where that fails; it marks the ticks once
-- none is left. Where the clock was never wrong it costs one look into an index. A difference of
-- less than a minute does not count.
create or replace function lenses.fn_undo_future(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer default 5000
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_false_ids bigint[] := array(
    select t.id from lenses.dispatch_ticks as t
    where t.started_at > p_now + interval '1 minute' and t.undone_at is null
      and t.id < p_tick_id);
  v_first record;
  v_ids uuid[];
  v_suspect_ids uuid[] := '{}';
  v_id uuid;
  v_resumes record;
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

  select * into v_resumes from lenses.fn_undo_resumes(p_now, p_limit);
  v_ids := array(
    select s.id
    from lenses.workflow_schedules as s
    inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
    where s.tick_id = any (v_false_ids)
    limit p_limit
    for no key update of s, d skip locked);
  begin
    perform lenses.fn_undo_batch(v_ids, p_tick_id, p_now, v_first.from_at, v_first.id);
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    v_suspect_ids := v_ids;
  end;
  foreach v_id in array v_suspect_ids loop
    begin
      perform lenses.fn_undo_batch(array[v_id], p_tick_id, p_now, v_first.from_at, v_first.id);
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: schedule % stays where a clock that was ahead has put it: % %',
        v_id, sqlstate, sqlerrm;
      update lenses.workflow_schedules as s
      set tick_id = null, dispatch_seq = s.dispatch_seq + 1
      where s.id = v_id;
    end;
  end loop;

  if not v_resumes.p_are_left and not exists (
    select from lenses.workflow_schedules as s
    inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
    where s.tick_id = any (v_false_ids)
  ) then
    perform agents.fn_undo_gateway_crons(p_now, v_first.from_at);
    update lenses.dispatch_ticks as t
    set undone_at = p_now
    where t.id in (
      select u.id from lenses.dispatch_ticks as u
      where u.id = any (v_false_ids) for no key update skip locked);
  end if;
  return v_resumes.p_resumed + cardinality(v_ids);
end;
$$;

comment on function lenses.fn_undo_future(bigint, timestamptz, integer) is
  'Undoes what ticks by a clock ahead of p_now have postponed; returns how many schedules. The '
  'tick calls it.';
