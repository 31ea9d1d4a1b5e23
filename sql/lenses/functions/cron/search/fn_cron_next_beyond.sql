-- The first slot after p_after of a spec that is not an expression alone (day_rule beyond 7): a
-- single slot, or slots that move off the closed dates of a calendar. It looks at all slots that
-- may come to lie between p_after and the first one known so far.
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
  v_base lenses.cron_spec := lenses.fn_cron_base(p_spec);
  v_is_back boolean := p_spec.day_rule & 32 <> 0;
  v_from timestamptz := p_after;
  v_until timestamptz;
  v_next timestamptz;
  v_slot timestamptz;
begin
  if p_spec.day_rule = 8 then
    return case when p_spec.run_at > p_after then p_spec.run_at end;
  end if;
  if not v_is_back then
    -- slots of the closed dates just before may have moved to the next open one
    v_from := lenses.fn_cron_reach(p_spec, p_timezone, p_after, -1);
  end if;
  v_next := lenses.fn_cron_next_after_spec(v_base, p_timezone, p_after);
  loop
    v_until := case
      when v_is_back then lenses.fn_cron_reach(p_spec, p_timezone, v_next, 1)
      else v_next end;
    exit when v_until <= v_from;
    select least(v_slot, min(m.slot)) into v_slot
    from lenses.fn_cron_moves(p_spec, p_timezone, v_from, coalesce(v_until, p_after)) as m
    where m.slot > p_after;
    exit when v_until is null;
    v_from := v_until;
    v_next := coalesce(v_slot, lenses.fn_cron_next_after_spec(v_base, p_timezone, v_until));
  end loop;
  return v_slot;
end;
$$;
