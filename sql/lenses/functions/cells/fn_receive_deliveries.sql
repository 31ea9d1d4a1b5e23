-- owner: lf_sql_engine
-- For fn_arrive_tenant: deliveries of the tenant's workflows come, or replace what an earlier stay
-- has left, with their secrets; those that do not come were deleted meanwhile and go. Deliveries of
-- the operator's that events wait for, and their secrets, stay as they are here; missing ones are
-- made. 23505 where a name is another delivery's or another secret's here.
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
  v_name text;
begin
  if p_table_name = 'lenses.deliveries' then
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
    select s.name into v_name
    from pg_temp.tenant_rows as x
    inner join lenses.delivery_secrets as s
      on s.name = x.row_texts ->> 'name' and s.secret <> x.row_texts ->> 'secret'
    where x.table_name = p_table_name
      and exists (
        select from pg_temp.tenant_rows as y
        where y.table_name = 'lenses.deliveries' and y.row_texts ->> 'secret_name' = s.name
          and y.row_texts ->> 'workflow_id' is not null)
      and exists (
        select from lenses.deliveries as d
        left join lenses.workflows as w on w.id = d.workflow_id
        where d.secret_name = s.name and w.lenser_id is distinct from p_lenser_id)
    limit 1;
    if found then
      raise exception using
        errcode = '23505',
        column = 'secret_name',
        message = format(
          'the secret "%s" of the tenant''s delivery is another one here, and is in use', v_name),
        hint = 'lenses.fn_set_delivery gives the tenant''s delivery a secret of another name.';
    end if;
    execute format(
      'insert into %1$s as o (%2$s) select %3$s from pg_temp.tenant_rows as x'
      ' where x.table_name = %1$L on conflict (name) do update set %4$s'
      ' where not exists (select from lenses.deliveries as d left join lenses.workflows as w'
      ' on w.id = d.workflow_id where d.secret_name = o.name and w.lenser_id is distinct from $1)',
      p_table_name, v_parts.columns, v_parts.expressions, v_parts.assignments)
    using p_lenser_id;
    return;
  end if;
  select d.name into v_name
  from pg_temp.tenant_rows as x
  inner join lenses.deliveries as d on d.name = x.row_texts ->> 'name'
  where x.table_name = p_table_name and x.row_texts ->> 'workflow_id' is not null
    and d.workflow_id is distinct from (x.row_texts ->> 'workflow_id')::uuid
  limit 1;
  if found then
    raise exception using
      errcode = '23505',
      column = 'name',
      message = format('the delivery "%s" of the tenant is another one here', v_name),
      hint = 'lf-sql delivery delete removes it; or make the tenant''s under another name.';
  end if;
  execute format(
    'insert into %1$s as o (%2$s) select %3$s from pg_temp.tenant_rows as x'
    ' where x.table_name = %1$L on conflict (name) do update set %4$s'
    ' where excluded.workflow_id is not null',
    p_table_name, v_parts.columns, v_parts.expressions, v_parts.assignments);
end;
$$;
