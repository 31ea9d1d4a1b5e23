-- The first change of a zone's clock, forward or back, in the two years after p_now at which an
-- expression's slots are not those of other days: {"at", "minutes", "effect"}; NULL where every
-- change passes them by. effect: skipped, doubled (real time), moved, once (wall clock).
create or replace function lenses.fn_lint_clock(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_now timestamptz,
  p_is_forward boolean
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_epoch constant bigint := lenses.fn_cron_epoch();
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_spec lenses.cron_spec := lenses.fn_cron_base(p_spec);
  v_turn bigint := floor(extract(epoch from p_now) / 60)::bigint + c_epoch;
  v_until bigint := v_turn + 731 * 1440;
  v_before bigint;
  v_after bigint;
  v_count bigint;
begin
  if v_zone = 'Etc/UTC' then
    return null;
  end if;
  loop
    v_turn := lenses.fn_cron_next_transition(v_zone, v_turn, v_until);
    exit when v_turn is null;
    v_before := lenses.fn_cron_wall_minute(v_zone, v_turn - 1);
    v_after := lenses.fn_cron_wall_minute(v_zone, v_turn);
    -- the wall minutes that are skipped, or that come twice
    v_count := case
      when v_after > v_before + 1
        then lenses.fn_cron_wall_count(v_spec, v_before, v_after - 1)
      else lenses.fn_cron_wall_count(v_spec, v_after - 1, v_before) end;
    if v_count > 0 and (v_after > v_before + 1) = p_is_forward then
      return jsonb_build_object(
        'at', to_timestamp(((v_turn - c_epoch) * 60)::float8),
        'minutes', abs(v_after - v_before - 1),
        'effect', case
          when v_after > v_before + 1 and v_spec.is_real_time then 'skipped'
          when v_after > v_before + 1 then 'moved'
          when v_spec.is_real_time then 'doubled'
          else 'once' end);
    end if;
  end loop;
  return null;
end;
$$;
