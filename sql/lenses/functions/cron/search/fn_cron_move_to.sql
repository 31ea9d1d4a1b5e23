-- The spec of an expression whose slots on closed dates of a calendar move: p_on_holiday before or
-- after; any other word leaves the spec as it is.
create or replace function lenses.fn_cron_move_to(
  p_spec lenses.cron_spec,
  p_calendar_id uuid,
  p_on_holiday text
)
returns lenses.cron_spec
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec lenses.cron_spec := p_spec;
begin
  if p_calendar_id is not null and p_on_holiday in ('before', 'after') then
    v_spec.day_rule := case p_on_holiday when 'after' then 16 else 32 end + p_spec.day_rule;
    v_spec.calendar_id := p_calendar_id;
  end if;
  return v_spec;
end;
$$;
