-- The newest slot of a spec at or before p_now, searched from p_slot, a slot that is known to be
-- past. Each step looks for the first slot after the middle of the range and so halves it: about
-- twenty steps for a year of minutes.
create or replace function agents.fn_newest_slot(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_slot timestamptz,
  p_now timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot timestamptz := p_slot;
  v_end timestamptz := p_now;  -- no slot lies between it and p_now
  v_next timestamptz;
begin
  v_next := lenses.fn_cron_next_after_spec(p_spec, p_timezone, v_slot);
  while v_next <= v_end loop
    v_slot := v_next;
    v_next := lenses.fn_cron_next_after_spec(p_spec, p_timezone, v_slot + (v_end - v_slot) / 2);
    if v_next is null or v_next > v_end then
      v_end := v_slot + (v_end - v_slot) / 2;
      v_next := lenses.fn_cron_next_after_spec(p_spec, p_timezone, v_slot);
    end if;
  end loop;
  return v_slot;
end;
$$;

comment on function agents.fn_newest_slot(lenses.cron_spec, text, timestamptz, timestamptz) is
  'The newest slot at or before p_now, no older than p_slot; p_slot itself where no later one has '
  'come.';
