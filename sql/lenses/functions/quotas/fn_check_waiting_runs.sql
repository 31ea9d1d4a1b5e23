-- owner: lf_sql_engine
-- Raises 53400 where p_more runs, which may already be inserted (p_is_there), pass
-- max_pending_runs_per_lenser. Transactions of one tenant take turns here, but only where there is
-- a limit. The tick does not call this: it makes slots wait (lenses.fn_hold_slots).
create or replace function lenses.fn_check_waiting_runs(
  p_lenser_id uuid,
  p_more bigint,
  p_is_there boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cap constant integer := (
    select d.max_pending_runs_per_lenser from lenses.dispatch_settings as d);
  v_total bigint;
begin
  if v_cap is null or p_more < 1 then
    return;
  end if;
  perform pg_advisory_xact_lock(1818653553, hashtext('waiting_runs ' || p_lenser_id));
  v_total := lenses.fn_waiting_runs(p_lenser_id, v_cap + 1)
    + case when p_is_there then 0 else p_more end;
  if v_total > v_cap then
    perform lenses.fn_refuse_quota(
      'max_pending_runs_per_lenser', v_cap, 'runs that wait', v_total, p_more,
      'Let some be executed, approve or cancel some');
  end if;
end;
$$;
