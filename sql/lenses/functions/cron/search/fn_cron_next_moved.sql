-- The slots in (p_after, p_until] of a spec whose slots move, in order, at most p_n (NULL: all). It
-- lists whole ranges, each longer than the one before, since a search for each slot would look at
-- the calendar around it every time. Where the expression has nothing for a year, slots are rare
-- and searched one by one.
create or replace function lenses.fn_cron_next_moved(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_until timestamptz,
  p_n bigint
)
returns setof timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_base lenses.cron_spec := lenses.fn_cron_base(p_spec);
  v_last timestamptz := case
    when p_after < timestamptz '0001-01-01 00:00:00+00' then timestamptz '0001-01-01 00:00:00+00'
    else p_after end;
  v_from timestamptz := v_last;
  v_until timestamptz;
  v_next timestamptz;
  v_left bigint := p_n;
  -- as if every day were one of the expression's
  v_days integer := least(1 + coalesce(p_n, 1000000) / (
    bit_count(p_spec.minutes::bit(64)) * bit_count(p_spec.hours::bit(32))), 366);
  v_slots timestamptz[];
begin
  while v_from < p_until and coalesce(v_left, 1) > 0 loop
    v_next := lenses.fn_cron_next_after_spec(v_base, p_timezone, v_from);
    if v_next <= v_from + interval '366 days' then
      v_until := least(greatest(v_from + v_days * interval '1 day', v_next), p_until);
      v_slots := array(
        select lenses.fn_cron_moved_between(p_spec, p_timezone, v_from, v_until) limit v_left);
      v_from := v_until;
      v_days := least(v_days * 2, 366);
    else
      v_slots := array_remove(
        array[lenses.fn_cron_next_after_spec(p_spec, p_timezone, v_last)], null);
      exit when v_slots = '{}' or v_slots[1] > p_until;
      v_from := v_slots[1];
    end if;
    if v_slots <> '{}' then
      return query select s from unnest(v_slots) as s;
      v_last := v_slots[cardinality(v_slots)];
      v_left := v_left - cardinality(v_slots);
    end if;
  end loop;
end;
$$;
