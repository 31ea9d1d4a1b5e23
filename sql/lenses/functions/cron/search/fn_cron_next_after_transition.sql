-- The first slot strictly after p_after by the full rule, where a clock may be turned on the way.
-- Let w(u) be the wall clock at the UTC minute u. A fixed schedule fires wall minute m at the
-- first u with w(u) >= m: a repeated hour counts once, a skipped minute falls on the end of the
-- gap. A real-time schedule fires each u whose w(u) matches. Bounded: every step of the loop moves
-- on to a change of the clock, after which there is none for three days, or to the next matching
-- wall minute, within 42 years. Where the months are chosen, one date may fall into the gap of each
-- year, so from a skipped minute it goes on to the first day that is not skipped. In that loop
-- lenses.fn_cron_wall_minute is written out, since a pinned call costs more than what it does.
create or replace function lenses.fn_cron_next_after_transition(
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
  c_epoch constant bigint := lenses.fn_cron_epoch();
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_after bigint := floor(extract(epoch from p_after) / 60)::bigint + c_epoch;
  v_wall bigint := lenses.fn_cron_wall_minute(v_zone, v_after);
  v_offset bigint := v_wall - v_after;
  v_until bigint := v_after + 15340 * 1440;  -- 42 years
  v_turn bigint;
  v_next bigint;
  v_seen bigint;
  v_day bigint;
  v_from bigint;
  v_is_turn boolean := false;
begin
  if not p_spec.is_real_time then
    -- the latest wall minute so far; in the second pass of a repeated hour, the end of the first
    -- pass
    v_turn := lenses.fn_cron_next_transition(v_zone, v_after - 2880, v_after);
    if v_turn is not null then
      v_wall := greatest(v_wall, lenses.fn_cron_wall_minute(v_zone, v_turn - 1));
    end if;
    v_wall := lenses.fn_cron_wall_next(p_spec, v_wall);
    v_next := lenses.fn_cron_wall_instant(v_zone, v_wall);
    return to_timestamp(((v_next - c_epoch) * 60)::float8);
  end if;

  v_wall := lenses.fn_cron_wall_next(p_spec, v_wall);
  loop
    if v_wall is null or v_wall > v_until then
      return null;
    end if;
    v_next := v_wall - v_offset;
    if v_next > v_after + 4320 then
      v_next := v_after + 4320;
      if v_is_turn or (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_next - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch)
        = v_next + v_offset then
        -- far away: nothing matches until shortly before it, whatever the clock does in between
        v_after := v_wall - 961;
        v_offset := (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_after - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch) - v_after;
        v_next := v_wall - v_offset;
      end if;
    end if;

    v_seen := (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_next - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch);
    if v_seen = v_wall then
      return to_timestamp(((v_next - c_epoch) * 60)::float8);
    end if;
    -- the clock is turned in (v_after, v_next]
    v_turn := v_after;
    if v_next = v_wall - v_offset and v_seen - v_next > v_offset then
      -- forward: the minute comes after the gap, or lies in it and so narrows the search
      v_turn := greatest(v_after, v_wall - v_seen + v_next);
      if (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_turn - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch)
        = v_wall then
        return to_timestamp(((v_turn - c_epoch) * 60)::float8);
      end if;
      if p_spec.months <> (1 << 12) - 1 then
        v_day := lenses.fn_cron_far_day(p_spec, v_zone, v_wall / 1440);
        if v_day is null then
          return null;
        elsif v_day > v_wall / 1440 then
          v_wall := lenses.fn_cron_wall_next(p_spec, v_day * 1440 - 1);
          v_after := v_day * 1440 - 961;
          v_offset := lenses.fn_cron_wall_minute(v_zone, v_after) - v_after;
          v_is_turn := false;
          continue;
        end if;
      end if;
    end if;
    -- usually at a full hour
    v_after := v_next - v_next % 60;
    if (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_after - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch)
        <> v_after + v_seen - v_next
      or (floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_after - 1 - c_epoch) * 60)::float8))) / 60)::bigint + c_epoch)
        <> v_after - 1 + v_offset then
      v_after := lenses.fn_cron_next_transition(v_zone, v_turn, v_next);
    end if;
    v_from := v_after + v_seen - v_next - 1;
    -- a match that is far away stays the next one, unless the clock goes back to another
    if v_wall < v_from + 4320
      or lenses.fn_cron_wall_count(p_spec, v_from, v_after + v_offset - 1) > 0 then
      v_wall := lenses.fn_cron_wall_next(p_spec, v_from);
    end if;
    v_offset := v_seen - v_next;
    v_is_turn := true;
  end loop;
end;
$$;
