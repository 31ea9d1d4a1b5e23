-- owner: lf_sql_engine
-- For fn_arrive_tenant: deliveries of the tenant's workflows come, or replace what an earlier stay
-- has left, with their secrets; those that do not come were deleted meanwhile and go. Deliveries of
-- the operator's that events wait for, and their secrets, stay as they are here; missing ones are
-- made. 23505 where a name is another tenant's delivery here, or the secret is somebody else's.
create or replace function lenses.fn_receive_deliveries(p_table_name text, p_lenser_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row_texts jsonb;
  v_parts record;
begin
  if p_table_name = 'lenses.deliveries' then
    perform lenses.fn_refuse_deliveries(p_lenser_id);
    delete from lenses.deliveries as d
    using lenses.workflows as w
    where w.id = d.workflow_id and w.lenser_id = p_lenser_id
      and not exists (
        select from pg_temp.tenant_rows as x
        where x.table_name = p_table_name and x.row_texts ->> 'name' = d.name);
  end if;
  select x.row_texts into v_row_texts
  from pg_temp.tenant_rows as x where x.table_name = p_table_name limit 1;
  if not found then
    return;
  end if;
  v_parts := lenses.fn_column_texts(p_table_name::regclass, v_row_texts);
  if p_table_name = 'lenses.delivery_secrets' then
    execute format(
      'insert into %1$s as o (%2$s) select %3$s from pg_temp.tenant_rows as x'
      ' where x.table_name = %1$L on conflict (name) do update set %4$s'
      ' where not exists (select from lenses.deliveries as d left join lenses.workflows as w'
      ' on w.id = d.workflow_id where d.secret_name = o.name and w.lenser_id is distinct from $1)',
      p_table_name, v_parts.columns, v_parts.expressions, v_parts.assignments)
    using p_lenser_id;
    return;
  end if;
  execute format(
    'insert into %1$s as o (%2$s) select %3$s from pg_temp.tenant_rows as x'
    ' where x.table_name = %1$L on conflict (name) do update set %4$s'
    ' where excluded.workflow_id is not null',
    p_table_name, v_parts.columns, v_parts.expressions, v_parts.assignments);
end;
$$;
