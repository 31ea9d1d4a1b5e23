-- Where the slots came from that have moved to p_slot, in order; empty for a slot of the expression
-- itself that nothing joined.
create or replace function lenses.fn_cron_moved_from(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_slot timestamptz
)
returns timestamptz[]
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_spec.day_rule > 15 then array(
    select distinct m.origin
    from lenses.fn_cron_moves(
      p_spec, p_timezone,
      case when p_spec.day_rule & 32 = 0
        then lenses.fn_calendar_barrier(p_spec.calendar_id, p_slot, -1) else p_slot end,
      case when p_spec.day_rule & 32 = 0
        then p_slot else lenses.fn_calendar_barrier(p_spec.calendar_id, p_slot, 1) end
    ) as m
    where m.slot = p_slot and m.origin <> p_slot
    order by m.origin
  ) else '{}' end
$$;
