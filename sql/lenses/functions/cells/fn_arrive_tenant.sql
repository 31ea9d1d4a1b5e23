-- owner: lf_sql_engine
-- For lf-sql cells: a tenant comes to live in this cell, with the rows that were copied into the
-- table of lenses.fn_open_arrival. True where it has arrived; false, and nothing is changed, where
-- it lives here already, so that it may be repeated. What an earlier stay has left here is
-- replaced, but for events and logs, which are joined. Rows come as they are (triggers look away
-- while the tenant counts as departed), with next_run_at and due_at as they were: what fell due
-- meanwhile fires now. 23505 where an id, the user or a delivery's name is another tenant's here.
create or replace function lenses.fn_arrive_tenant(p_lenser_id uuid)
returns boolean
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
begin
  if not lenses.fn_receive_profile(p_lenser_id) then
    return false;
  end if;
  for v_table in
    select * from lenses.fn_tenant_tables() as f order by f.place
  loop
    perform lenses.fn_refuse_strange_rows(
      p_lenser_id, v_table.table_name, v_table.key_columns, v_table.arrival);
  end loop;
  for v_table in
    select * from lenses.fn_tenant_tables() as f
    where f.arrival in ('replace', 'merge')
    order by f.place desc
  loop
    execute format(
      'delete from %1$s as t where t.lenser_id = $1%2$s', v_table.table_name,
      case when v_table.arrival = 'merge' then format(
        ' and not exists (select from pg_temp.tenant_rows as x where x.table_name = %L and %s)',
        v_table.table_name,
        lenses.fn_key_match(v_table.table_name::regclass, v_table.key_columns)) end)
    using p_lenser_id;
  end loop;
  for v_table in
    select * from lenses.fn_tenant_tables() as f where f.place > 1 order by f.place
  loop
    if v_table.arrival = 'own' then
      perform lenses.fn_receive_deliveries(v_table.table_name, p_lenser_id);
    else
      perform lenses.fn_receive_rows(v_table.table_name, v_table.key_columns, v_table.arrival);
    end if;
  end loop;
  perform lenses.fn_follow_policies(null, p_lenser_id);
  delete from lenses.departed_rows as d where d.lenser_id = p_lenser_id;
  perform lenses.fn_make_due_rows(array[p_lenser_id]);
  perform lenses.fn_log_arrival(array[p_lenser_id]);
  update lensers.profiles as p
  set departed_at = null, departed_to = null, departure_settled_at = null, source_departed_at = (
    select (x.row_texts ->> 'departed_at')::timestamptz from pg_temp.tenant_rows as x
    where x.table_name = 'lensers.profiles' limit 1)
  where p.id = p_lenser_id;
  return true;
end;
$$;

comment on function lenses.fn_arrive_tenant(uuid) is
  'A tenant arrives with the rows that lenses.fn_open_arrival''s table holds. False where it lives '
  'here already. 23505 where an id, the user or a delivery is another tenant''s here; 22023 for '
  'rows that are not the tenant''s.';
