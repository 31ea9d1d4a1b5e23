-- owner: lf_sql_engine
-- For operators: recomputes the next_run_at of a gateway cron as the first slot after now that has
-- no run.
create or replace function agents.fn_recompute_gateway_cron(p_cron_id uuid)
returns agents.gateway_crons
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row agents.gateway_crons;
begin
  select c.* into v_row from agents.gateway_crons as c where c.id = p_cron_id for no key update;
  if not found then
    raise exception using
      errcode = '42501',
      message = format('there is no gateway cron "%s"', coalesce(p_cron_id::text, 'NULL')),
      hint = 'lf-sql gateway cron list shows all.';
  elsif not lenses.fn_has_zone(v_row.timezone) then
    raise exception using
      errcode = '22023',
      column = 'timezone',
      message = format(
        'the zone "%s" of gateway cron %s is not known to this server', v_row.timezone, v_row.id
      ),
      hint = 'Install the server''s zone data, and the tick goes on by itself.';
  end if;
  perform lensers.fn_require_here(v_row.lenser_id);
  update agents.gateway_crons as c
  set next_run_at = agents.fn_free_gateway_slot(v_row, now())
  where c.id = p_cron_id
  returning c.* into v_row;
  return v_row;
end;
$$;

comment on function agents.fn_recompute_gateway_cron(uuid) is
  'Recomputes next_run_at: the first slot after now that has no run. Returns the row. 42501: '
  'unknown id; 22023: its zone has left the server.';
