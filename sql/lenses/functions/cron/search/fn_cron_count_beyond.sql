-- How many slots lie in (p_after, p_until], for a spec that is not an expression alone (day_rule
-- beyond 7). Slots that move are listed and counted, a year at a time.
create or replace function lenses.fn_cron_count_beyond(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_until timestamptz
)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint := 0;
  v_from timestamptz := p_after;
  v_until timestamptz;
begin
  if p_spec.day_rule = 8 then
    return (p_spec.run_at > p_after and p_spec.run_at <= p_until)::integer;
  end if;
  while v_from < p_until loop
    v_until := least(v_from + interval '366 days', p_until);
    v_count := v_count + (
      select count(distinct m.slot)
      from lenses.fn_cron_moves(
        p_spec, p_timezone, v_from - interval '33 days', v_until + interval '33 days') as m
      where m.slot > v_from and m.slot <= v_until);
    v_from := v_until;
  end loop;
  return v_count;
end;
$$;
