-- owner: lf_sql_engine
-- One piece of one part of a tick's housekeeping, at most about p_limit rows, fair between tenants.
-- Returns how many it handled; 0 means that none is left, except rows that another transaction has
-- locked.
create or replace function lenses.fn_housekeeping_part(
  p_part text,
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_part
    when 'reviving schedules' then return lenses.fn_keep_alive(p_tick_id, p_now, p_limit);
    when 'reaping runs' then return lenses.fn_reap_runs(p_now, p_limit);
    when 'queueing runs' then return lenses.fn_ready_runs(p_now, p_limit);
    when 'ending pauses' then return lenses.fn_end_pauses(p_now, p_limit);
    when 'gateway leases' then return agents.fn_reap_gateway_cron_runs(p_now, p_limit);
    when 'gateway crons' then return agents.fn_dispatch_gateway_crons(p_now, p_limit);
    when 'delivering' then return lenses.fn_deliver_part(p_now, p_limit);
    when 'making partitions' then
      if not lenses.fn_lacks_partitions() then
        return 0;
      end if;
      perform lenses.fn_make_partitions(false);
      return (not lenses.fn_lacks_partitions())::integer;
  end case;
end;
$$;
