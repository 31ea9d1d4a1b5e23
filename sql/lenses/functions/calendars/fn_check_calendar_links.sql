-- owner: lf_sql_engine
-- Checks what the rules of a calendar refer to, and raises 22023: only the tenant's own calendars
-- or seeds, at most eight deep, without a cycle, and no heavier than a tick can list cheaply
-- (lenses.fn_calendar_weight). This applies to the calendar and to each one that leads to it. Saves
-- of one tenant's calendars with rules wait for each other, so that two of them cannot close a
-- cycle together.
create or replace function lenses.fn_check_calendar_links(
  p_calendar_id uuid,
  p_lenser_id uuid,
  p_rules jsonb,
  p_dates date[]
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_heaviest constant integer := 250;
  v_ids uuid[] := lenses.fn_calendar_references(p_rules);
  v_above uuid[] := array[p_calendar_id];
  v_touched uuid[] := array[p_calendar_id];
  v_id uuid;
  v_weight numeric;
  v_depth integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('lf-sql calendars ' || p_lenser_id, 0));
  -- the calendars that lead to this one, level by level
  loop
    v_above := array(
      select c.id from lenses.schedule_calendars as c
      where c.lenser_id = p_lenser_id and lenses.fn_calendar_references(c.rules) && v_above);
    exit when v_above = '{}' or v_depth > 8;
    v_touched := v_touched || v_above;
    v_depth := v_depth + 1;
  end loop;
  while v_ids <> '{}' loop
    v_depth := v_depth + 1;
    if p_calendar_id = any (v_ids) then
      raise exception using
        errcode = '22023',
        column = 'rules',
        message = 'the calendar would refer to itself',
        hint = 'Take the reference out that leads back to it.';
    elsif v_depth > 8 then
      raise exception using
        errcode = '22023',
        column = 'rules',
        message = 'calendars refer to one another more than eight deep',
        hint = 'Refer to the calendars at the end of the chain.';
    end if;
    select i.id into v_id
    from unnest(v_ids) as i (id)
    where not exists (
      select from lenses.schedule_calendars as c
      where c.id = i.id and (c.lenser_id = p_lenser_id or c.lenser_id is null))
    limit 1;
    if found then
      raise exception using
        errcode = '22023',
        column = 'rules',
        message = format('there is no such calendar of yours: %s', v_id),
        hint = 'public.fn_get_schedule_calendars() lists yours and the seeds.';
    end if;
    v_ids := array(
      select distinct r
      from lenses.schedule_calendars as c
      cross join unnest(lenses.fn_calendar_references(c.rules)) as r
      where c.id = any (v_ids));
  end loop;
  select t.id, w.weight into v_id, v_weight
  from (select distinct unnest(v_touched) as id) as t
  cross join lateral lenses.fn_calendar_weight(t.id, p_calendar_id, p_rules, p_dates) as w (weight)
  where w.weight > c_heaviest
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = 'rules',
      message = format(
        'calendar %s and those it refers to are more than %s: %s rules and dates, counted once '
        'for each path that leads to them',
        v_id, c_heaviest, v_weight
      ),
      hint = 'A rule counts as 1, 500 dates too. Refer to a calendar once, '
        'and list dates instead of refining a reference by exceptions.';
  end if;
end;
$$;
