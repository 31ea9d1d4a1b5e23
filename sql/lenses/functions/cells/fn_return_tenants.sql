-- owner: lf_sql_engine
-- For lf-sql cells: takes departures back, where no arrival has happened and none can any more; and
-- makes tenants live in a cell that was split off with their rows. What was put aside becomes again
-- what it was. Tenants that are here stay as they are. Returns those that are here now. 55000 where
-- a tenant has arrived, unless p_is_arrival_lost: the new cell failed over to a standby without it.
create or replace function lenses.fn_return_tenants(
  p_lenser_ids uuid[],
  p_is_arrival_lost boolean default false
)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_settled record;
  v_ids uuid[];
  v_table record;
  v_row_texts jsonb;
  v_parts record;
begin
  perform lenses.fn_lock_tenants(p_lenser_ids);
  select p.id, p.departed_to into v_settled
  from lensers.profiles as p
  where p.id = any (p_lenser_ids) and p.departure_settled_at is not null
    and not p_is_arrival_lost
  limit 1;
  if found then
    raise exception using
      errcode = '55000',
      message = format('tenant "%s" is at work in cell %s', v_settled.id, v_settled.departed_to),
      hint = 'lf-sql cells move moves it back.';
  end if;
  v_ids := array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_at is not null
    order by p.id);
  -- The trail of a run goes on: its number has moved.
  update lenses.departed_rows as d
  set row_texts = d.row_texts || jsonb_build_object('last_event_seq', (r.last_event_seq + 1)::text)
  from lenses.workflow_runs as r
  where d.lenser_id = any (v_ids) and d.table_name = 'lenses.workflow_runs'
    and r.id = d.row_key::uuid;
  for v_table in
    select * from lenses.fn_tenant_tables() as f where f.live_rows is not null order by f.place
  loop
    select d.row_texts into v_row_texts
    from lenses.departed_rows as d
    where d.lenser_id = any (v_ids) and d.table_name = v_table.table_name
    limit 1;
    continue when not found;
    v_parts := lenses.fn_column_texts(v_table.table_name::regclass, v_row_texts);
    if v_table.table_name = 'lenses.outbox' then
      execute format(
        'insert into %s (id, %s) overriding system value'
        ' select (x.row_texts ->> ''id'')::bigint, %s from lenses.departed_rows as x'
        ' where x.lenser_id = any ($1) and x.table_name = %L',
        v_table.table_name, v_parts.columns, v_parts.expressions, v_table.table_name)
      using v_ids;
    else
      execute format(
        'update %s as t set (%s) = row(%s) from lenses.departed_rows as x'
        ' where x.lenser_id = any ($1) and x.table_name = %L and t.lenser_id = x.lenser_id'
        ' and %s = x.row_key',
        v_table.table_name, v_parts.columns, v_parts.expressions, v_table.table_name,
        lenses.fn_key_text(v_table.key_columns))
      using v_ids;
    end if;
  end loop;
  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  select r.lenser_id, r.id, r.last_event_seq, 'run.arrived', jsonb_build_object('status', r.status)
  from lenses.workflow_runs as r
  inner join lenses.departed_rows as d on d.row_key::uuid = r.id
  where d.lenser_id = any (v_ids) and d.table_name = 'lenses.workflow_runs';
  delete from lenses.departed_rows as d where d.lenser_id = any (v_ids);
  perform lenses.fn_make_due_rows(v_ids);
  update lensers.profiles as p
  set departed_at = null, departed_to = null, departure_settled_at = null
  where p.id = any (v_ids);
  return array(
    select p.id from lensers.profiles as p where p.id = any (p_lenser_ids) order by p.id);
end;
$$;

comment on function lenses.fn_return_tenants(uuid[], boolean) is
  'Takes departures back: everything as before, waiting runs too. Only where no arrival has '
  'happened and none can any more; or in a cell that was split off. Returns those that are here. '
  '55000: a tenant has arrived; p_is_arrival_lost: its cell has lost it in a failover.';
