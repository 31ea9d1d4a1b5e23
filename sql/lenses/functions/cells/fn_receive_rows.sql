-- owner: lf_sql_engine
-- For fn_arrive_tenant: inserts the rows of one table that have been copied, as
-- lenses.fn_tenant_tables says. What belongs to this cell alone is left out: the tick that took a
-- schedule last, and who held an event.
create or replace function lenses.fn_receive_rows(
  p_table_name text,
  p_key_columns text[],
  p_arrival text
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_rows constant text := 'insert into %1$s as o (%2$s) select %3$s from ('
    'select x.row_texts || %5$L as row_texts, x.place from pg_temp.tenant_rows as x'
    ' where x.table_name = %4$L) as x';
  v_table constant regclass := p_table_name::regclass;
  v_local constant jsonb := case p_table_name
    when 'lenses.workflow_schedules' then '{"tick_id": null, "tick_slots": "0"}'
    when 'lenses.outbox' then '{"worker_id": null, "lease_expires_at": null}'
    else '{}' end;
  v_row_texts jsonb;
  v_parts record;
  v_rows text;
begin
  select x.row_texts into v_row_texts
  from pg_temp.tenant_rows as x where x.table_name = p_table_name limit 1;
  if not found then
    return;
  end if;
  v_parts := lenses.fn_column_texts(v_table, v_row_texts);
  v_rows := format(
    c_rows, p_table_name, v_parts.columns, v_parts.expressions, p_table_name, v_local);
  if p_arrival = 'replace' then
    execute v_rows;
  elsif p_arrival = 'merge' then
    execute format('%s on conflict (id) do update set %s', v_rows, v_parts.assignments);
  elsif p_arrival = 'grow' then
    execute format(
      '%s on conflict (run_id, minute) do update set %s where o.attempts < excluded.attempts',
      v_rows, v_parts.assignments);
  elsif p_arrival = 'add' then
    execute format(
      '%s where not exists (select from %s as t where %s) order by x.place', v_rows, p_table_name,
      lenses.fn_key_match(v_table, p_key_columns));
  else
    -- A log has no key: as many as come, less those of an earlier stay.
    execute format(
      'insert into %1$s (%2$s) select %2$s from ('
      'select q.*, row_number() over (partition by %2$s order by q.place) as copy from ('
      'select %3$s, x.place from (select x.row_texts, x.place from pg_temp.tenant_rows as x'
      ' where x.table_name = %4$L) as x) as q (%2$s, place)) as q where q.copy > ('
      'select count(*) from %1$s as t where t.lenser_id = q.lenser_id'
      ' and t.occurred_at = q.occurred_at and (%5$s) is not distinct from (%6$s))'
      ' order by q.place',
      p_table_name, v_parts.columns, v_parts.expressions, p_table_name,
      't.' || replace(v_parts.columns, ', ', ', t.'),
      'q.' || replace(v_parts.columns, ', ', ', q.'));
  end if;
end;
$$;
