-- owner: lf_sql_engine
-- The first slot of a gateway cron after p_after that has no run.
create or replace function agents.fn_free_gateway_slot(
  p_cron agents.gateway_crons,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot timestamptz := p_after;
begin
  loop
    v_slot := lenses.fn_cron_next_after_spec(p_cron.cron_spec, p_cron.timezone, v_slot);
    exit when v_slot is null or not exists (
      select from agents.gateway_cron_runs as r
      where r.gateway_cron_id = p_cron.id and r.scheduled_for = v_slot);
  end loop;
  return v_slot;
end;
$$;
