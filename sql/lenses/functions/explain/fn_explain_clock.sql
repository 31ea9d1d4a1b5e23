-- The change of a zone's clock within a day of an instant, the nearest one: {"at", "kind" (forward,
-- back), "minutes", "wall_before", "wall_after"}; NULL where there is none.
create or replace function lenses.fn_explain_clock(p_timezone text, p_at timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_epoch constant bigint := lenses.fn_cron_epoch();
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_minute bigint := floor(extract(epoch from p_at) / 60)::bigint + c_epoch;
  v_turn bigint := lenses.fn_cron_next_transition(v_zone, v_minute - 1440, v_minute + 1440);
  v_shift bigint;
  v_at timestamptz;
begin
  if v_turn is null then
    return null;
  end if;
  v_at := to_timestamp(((v_turn - c_epoch) * 60)::float8);
  v_shift := lenses.fn_cron_wall_minute(v_zone, v_turn)
    - lenses.fn_cron_wall_minute(v_zone, v_turn - 1) - 1;
  return jsonb_build_object(
    'at', v_at, 'kind', case when v_shift > 0 then 'forward' else 'back' end,
    'minutes', abs(v_shift),
    'wall_before', to_char((v_at - interval '1 minute') at time zone v_zone, 'HH24:MI'),
    'wall_after', to_char(v_at at time zone v_zone, 'HH24:MI'));
end;
$$;
