-- The first minute in (p_from, p_until] whose UTC offset differs from the minute before, or NULL.
-- It compares offsets in steps of three days and then halves the step down to the minute. No two
-- changes of a zone lie closer than 3.9 days (1939; 6.9 days since 1970), so equal ends mean no
-- change.
create or replace function lenses.fn_cron_next_transition(
  p_timezone text,
  p_from bigint,
  p_until bigint
)
returns bigint
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_low bigint := p_from;
  v_high bigint;
  v_middle bigint;
  v_offset bigint := lenses.fn_cron_wall_minute(p_timezone, p_from) - p_from;
begin
  loop
    if v_low >= p_until then
      return null;
    end if;
    v_high := least(v_low + 4320, p_until);
    exit when lenses.fn_cron_wall_minute(p_timezone, v_high) <> v_high + v_offset;
    v_low := v_high;
  end loop;
  while v_high - v_low > 1 loop
    v_middle := (v_low + v_high) / 2;
    if lenses.fn_cron_wall_minute(p_timezone, v_middle) = v_middle + v_offset then
      v_low := v_middle;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_high;
end;
$$;
