-- The UTC minute of a zone's wall-clock minute, both as in lenses.fn_cron_epoch: the first time
-- where it comes twice, the end of the gap where it is skipped. Offsets lie within 16 hours.
create or replace function lenses.fn_cron_wall_instant(p_timezone text, p_wall bigint)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_turn bigint := lenses.fn_cron_next_transition(p_timezone, p_wall - 961, p_wall + 960);
  v_minute bigint := p_wall * 2 - 961 - lenses.fn_cron_wall_minute(p_timezone, p_wall - 961);
begin
  if v_minute >= v_turn then
    return greatest(
      v_turn, p_wall - lenses.fn_cron_wall_minute(p_timezone, v_turn) + v_turn);
  end if;
  return v_minute;
end;
$$;
