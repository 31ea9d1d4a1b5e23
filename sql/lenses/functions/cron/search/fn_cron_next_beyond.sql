-- The first slot after p_after of a spec that is not an expression alone (day_rule beyond 7): a
-- single slot, or slots that move off the closed dates of a calendar. A moved slot lies within 32
-- days of where it came from, so the search looks at that range; slots from further away land
-- later.
create or replace function lenses.fn_cron_next_beyond(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_reach constant interval := interval '33 days';
  v_is_back boolean := p_spec.day_rule & 32 <> 0;
  v_from timestamptz := p_after;
  v_until timestamptz;
  v_slot timestamptz;
begin
  if p_spec.day_rule = 8 then
    return case when p_spec.run_at > p_after then p_spec.run_at end;
  end if;
  if not v_is_back then
    -- slots of the closed dates just before may have moved to the next open one
    v_from := p_after - case
      when lenses.fn_is_closed_near(p_spec.calendar_id, p_after) then c_reach
      else interval '2 days' end;
  end if;
  v_until := lenses.fn_cron_next_after_spec(lenses.fn_cron_base(p_spec), p_timezone, p_after)
    + case when v_is_back then c_reach else interval '0' end;
  loop
    select min(m.slot) into v_slot
    from lenses.fn_cron_moves(p_spec, p_timezone, v_from, coalesce(v_until, p_after)) as m
    where m.slot > p_after;
    exit when v_until is null or v_slot <= v_until - case
      when v_is_back then c_reach else interval '0' end;
    v_until := case
      when v_slot is null then v_until + c_reach
      when v_is_back then v_slot + c_reach
      else v_slot end;
  end loop;
  return v_slot;
end;
$$;
