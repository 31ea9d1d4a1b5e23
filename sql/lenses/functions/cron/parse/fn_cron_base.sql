-- A spec without a calendar that moves its slots: only the slots of its expression.
create or replace function lenses.fn_cron_base(p_spec lenses.cron_spec)
returns lenses.cron_spec
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec lenses.cron_spec := p_spec;
begin
  v_spec.day_rule := p_spec.day_rule & 7;
  v_spec.calendar_id := null;
  return v_spec;
end;
$$;
