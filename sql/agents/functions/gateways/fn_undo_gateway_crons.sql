-- owner: lf_sql_engine
-- Gateway crons that a clock ahead of p_now has put off: their next slot is the first without a run
-- after p_from, no earlier than the row's own last edit. Set-wise: no row of another is touched.
create or replace function agents.fn_undo_gateway_crons(p_now timestamptz, p_from timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with put_off as materialized (
    select c.id, agents.fn_free_gateway_slot(
      c, greatest(p_from, case when c.updated_at <= p_now then c.updated_at end)) as slot
    from agents.gateway_crons as c
    where c.next_run_at > p_now and lenses.fn_has_zone(c.timezone)
      and exists (
        select from agents.gateway_cron_runs as r
        where r.gateway_cron_id = c.id and r.created_at > p_now + interval '1 minute')
    for no key update skip locked
  )

  update agents.gateway_crons as c
  set next_run_at = least(c.next_run_at, o.slot)
  from put_off as o
  where c.id = o.id;
end;
$$;
