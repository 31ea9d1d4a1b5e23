-- The slots in (p_after, p_until] of a spec whose slots move, each once, in order: of all that may
-- come to lie there. p_until must be finite.
create or replace function lenses.fn_cron_moved_between(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_until timestamptz
)
returns setof timestamptz
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select distinct m.slot
  from lenses.fn_cron_moves(
    p_spec, p_timezone,
    case when p_spec.day_rule & 32 = 0
      then lenses.fn_cron_reach(p_spec, p_timezone, p_after, -1) else p_after end,
    case when p_spec.day_rule & 32 = 0
      then p_until else lenses.fn_cron_reach(p_spec, p_timezone, p_until, 1) end
  ) as m
  where m.slot > p_after and m.slot <= p_until
  order by m.slot
$$;
