-- owner: lf_sql_engine
-- Finds active gateway crons that rest without a next slot and whose zone the server knows again,
-- and sets their next slot to the first after p_now. Handles p_limit at most; rows that another
-- transaction has locked are left for the next call. It goes row by row, so that one that fails
-- costs only itself.
create or replace function agents.fn_revive_gateway_crons(
  p_now timestamptz,
  p_limit integer default 1000
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zones text[] := array(
    select z.timezone
    from (
      select distinct c.timezone
      from agents.gateway_crons as c where c.is_active and c.next_run_at is null
      offset 0  -- once for each zone, not for each row
    ) as z
    where lenses.fn_has_zone(z.timezone));
  v_cron agents.gateway_crons;
  v_revived integer := 0;
begin
  if v_zones = '{}' then
    return 0;
  end if;
  for v_cron in
    select c.*
    from agents.gateway_crons as c
    where c.is_active and c.next_run_at is null and c.timezone = any (v_zones)
    limit p_limit
    for no key update skip locked
  loop
    begin
      update agents.gateway_crons as c
      set next_run_at = agents.fn_free_gateway_slot(v_cron, p_now),
        last_status = nullif(c.last_status, 'validation_failed')
      where c.id = v_cron.id;
      v_revived := v_revived + 1;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: the next slot of gateway cron % cannot be computed: % %',
        v_cron.id, sqlstate, sqlerrm;
    end;
  end loop;
  return v_revived;
end;
$$;

comment on function agents.fn_revive_gateway_crons(timestamptz, integer) is
  'Computes the next slot of active gateway crons that have none; returns how many. The tick '
  'calls it.';
