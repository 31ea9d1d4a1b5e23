-- owner: lf_sql_engine
-- Guard of rows that a superuser or a member of the table owner's role writes by hand: keeps their
-- tenant here until the transaction ends, so that a departure does not miss what is not committed
-- yet. A restore brings the rows of a tenant that has departed, so those that are quiet pass; one
-- that waits or is active would be at work in two cells.
create or replace function lensers.tg_hold_tenant()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row constant jsonb := to_jsonb(new);
  v_is_live boolean;
begin
  v_is_live := case tg_table_name
    when 'workflow_runs' then v_row ->> 'status' in ('pending_approval', 'pending', 'running')
    when 'team_runs' then v_row ->> 'approval_status' = 'pending'
    when 'gateway_crons' then (v_row ->> 'is_active')::boolean
    when 'gateway_cron_runs' then v_row ->> 'status' in ('pending', 'running')
    else tg_table_name in ('schedule_due', 'outbox') end;
  if v_is_live then
    perform lensers.fn_require_here(new.lenser_id);
  else
    perform from lensers.profiles as p where p.id = new.lenser_id for share;
  end if;
  return new;
end;
$$;

comment on function lensers.tg_hold_tenant() is
  'Lets a departure of the row''s tenant wait until the writer''s transaction ends; refuses '
  '(42501) what waits or is active of a tenant that has departed.';
