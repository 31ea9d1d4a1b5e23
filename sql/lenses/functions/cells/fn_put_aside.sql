-- owner: lf_sql_engine
-- For fn_depart_tenants, which has locked the rows: keeps what is live of the
-- tenants in lenses.departed_rows, then ends it here. A run's trail says that it departed; the
-- event goes along. Schedules keep their rows as they are and leave the due index. p_is_copy: the
-- rows are a copy of what lives elsewhere, so that nothing is kept, no trail goes on, and what is
-- running ends as well.
create or replace function lenses.fn_put_aside(
  p_lenser_ids uuid[],
  p_to text,
  p_is_copy boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
as $$
declare
  v_table record;
  v_runs uuid[];
begin
  for v_table in
    select * from lenses.fn_tenant_tables() as f where f.live_rows is not null and not p_is_copy
  loop
    execute format(
      'insert into lenses.departed_rows (lenser_id, table_name, row_key, row_texts) '
      'select t.lenser_id, %L, %s, %s from %s as t where t.lenser_id = any ($1) and %s',
      v_table.table_name, lenses.fn_key_text(v_table.key_columns),
      lenses.fn_row_texts(v_table.table_name::regclass), v_table.table_name, v_table.live_rows)
    using p_lenser_ids;
  end loop;

  update lenses.departed_rows as d
  set row_texts = d.row_texts || jsonb_build_object(
    'last_event_seq', ((d.row_texts ->> 'last_event_seq')::integer + 1)::text)
  where d.lenser_id = any (p_lenser_ids) and d.table_name = 'lenses.workflow_runs';
  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  select r.lenser_id, r.id, r.last_event_seq + 1, 'run.departed',
    jsonb_build_object('status', r.status, 'to', p_to)
  from lenses.workflow_runs as r
  where r.lenser_id = any (p_lenser_ids) and r.status in ('pending_approval', 'pending')
    and not p_is_copy;
  -- The guard lets a change pass that numbers its event itself; a copy's number goes back.
  v_runs := array(
    select r.id from lenses.workflow_runs as r
    where r.lenser_id = any (p_lenser_ids)
      and (r.status in ('pending_approval', 'pending') or p_is_copy and r.status = 'running')
  );
  update lenses.workflow_runs as r
  set status = 'cancelled', last_event_seq = r.last_event_seq + 1, completed_at = now(),
    available_at = null, lease_expires_at = null,
    metadata = r.metadata || jsonb_build_object('result', lenses.fn_run_result(
      'cancelled', 'departed', format('It goes on in cell %s.', p_to)))
  where r.id = any (v_runs);
  if p_is_copy then
    update lenses.workflow_runs as r set last_event_seq = r.last_event_seq - 1
    where r.id = any (v_runs);
  end if;
  update agents.team_runs as t set approval_status = 'rejected', decided_at = now()
  where t.lenser_id = any (p_lenser_ids) and t.approval_status = 'pending';
  update agents.gateway_crons as c set is_active = false, next_run_at = null
  where c.lenser_id = any (p_lenser_ids) and c.is_active;
  update agents.gateway_cron_runs as r
  set status = 'cancelled', completed_at = now(), lease_expires_at = null
  where r.lenser_id = any (p_lenser_ids)
    and (r.status = 'pending' or p_is_copy and r.status = 'running');
  delete from lenses.outbox as o where o.lenser_id = any (p_lenser_ids);
  delete from lenses.schedule_due as d where d.lenser_id = any (p_lenser_ids);
end;
$$;
