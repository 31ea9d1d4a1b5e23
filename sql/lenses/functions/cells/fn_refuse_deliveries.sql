-- owner: lf_sql_engine
-- For fn_receive_deliveries, before anything of them is written: raises 23505 where a delivery or a
-- secret that comes meets one of the same name here that is somebody else's. Of the arriving ones,
-- those without a workflow are the operator's, in every cell: they meet the operator's alone. A
-- secret that differs may be replaced only where the tenant's own deliveries sign with it, and no
-- other.
create or replace function lenses.fn_refuse_deliveries(p_lenser_id uuid)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
begin
  select d.name into v_name
  from pg_temp.tenant_rows as x
  inner join lenses.deliveries as d on d.name = x.row_texts ->> 'name'
  left join lenses.workflows as w on w.id = d.workflow_id
  where x.table_name = 'lenses.deliveries'
    and case when x.row_texts ->> 'workflow_id' is null then d.workflow_id is not null
      else w.lenser_id is distinct from p_lenser_id end
  limit 1;
  if found then
    raise exception using
      errcode = '23505',
      column = 'name',
      message = format('the delivery "%s" of the tenant is another one here', v_name),
      hint = 'lf-sql delivery delete removes it; or make the tenant''s under another name.';
  end if;
  select s.name into v_name
  from pg_temp.tenant_rows as x
  inner join lenses.delivery_secrets as s
    on s.name = x.row_texts ->> 'name' and s.secret <> x.row_texts ->> 'secret'
  where x.table_name = 'lenses.delivery_secrets'
    and exists (
      select from pg_temp.tenant_rows as y
      where y.table_name = 'lenses.deliveries' and y.row_texts ->> 'secret_name' = s.name
        and y.row_texts ->> 'workflow_id' is not null)
    and (
      select count(*) > 0 and bool_and(w.lenser_id is not distinct from p_lenser_id)
      from lenses.deliveries as d
      left join lenses.workflows as w on w.id = d.workflow_id
      where d.secret_name = s.name) is not true
  limit 1;
  if found then
    raise exception using
      errcode = '23505',
      column = 'secret_name',
      message = format('the secret "%s" of the tenant''s delivery is another one here', v_name),
      hint = 'lenses.fn_set_delivery gives the tenant''s delivery a secret of another name.';
  end if;
end;
$$;
