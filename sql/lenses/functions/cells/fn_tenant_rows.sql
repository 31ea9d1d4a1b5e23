-- owner: lf_sql_engine
-- For lf-sql cells: all rows that go along with a tenant that has departed, table by table in the
-- order of lenses.fn_tenant_tables, as lenses.fn_arrive_tenant takes them. What was put aside comes
-- as it was before the departure. The profile stays locked until the transaction ends, so that
-- nobody takes the departure back meanwhile.
create or replace function lenses.fn_tenant_rows(p_lenser_id uuid)
returns table (table_name text, row_texts jsonb)
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
  perform from lensers.profiles as p
  where p.id = p_lenser_id and p.departed_at is not null
  for share;
  if not found then
    raise exception using
      errcode = '55000',
      message = format('tenant %s has not departed', coalesce('"' || p_lenser_id || '"', 'NULL')),
      hint = 'lenses.fn_depart_tenants comes first.';
  end if;
  for v_table in
    select * from lenses.fn_tenant_tables() as f order by f.place
  loop
    return query execute format(
      'select %L, %s from %s as t where (%s)%s', v_table.table_name,
      lenses.fn_row_texts(v_table.table_name::regclass), v_table.table_name, v_table.own_rows,
      case when v_table.live_rows is not null then format(
        ' and not exists (select from lenses.departed_rows as d where d.lenser_id = $1'
        ' and d.table_name = %L and d.row_key = %s)',
        v_table.table_name, lenses.fn_key_text(v_table.key_columns)) end)
    using p_lenser_id;
    return query
      select d.table_name, d.row_texts
      from lenses.departed_rows as d
      where d.lenser_id = p_lenser_id and d.table_name = v_table.table_name
      -- Numbers are in order by length first.
      order by
        (d.row_texts ->> 'created_at')::timestamptz,
        length(d.row_texts ->> 'id'),
        d.row_texts ->> 'id';
  end loop;
end;
$$;

comment on function lenses.fn_tenant_rows(uuid) is
  'All rows of a tenant that has departed, every column as text, for lenses.fn_arrive_tenant in '
  'its new cell. 55000 for a tenant that is here.';
