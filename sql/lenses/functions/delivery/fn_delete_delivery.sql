-- owner: lf_sql_engine
-- For service_role. Events that still wait for it are deleted too; its runs in flight end with
-- their leases.
create or replace function lenses.fn_delete_delivery(p_name text)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from lenses.deliveries as d where d.name = p_name;
  if not found then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format('there is no delivery "%s"', coalesce(left(p_name, 100), 'NULL')),
      hint = 'lf-sql delivery list, or lenses.fn_get_deliveries(), lists them.';
  end if;
  delete from lenses.departed_rows as r
  where r.table_name = 'lenses.outbox' and r.row_texts ->> 'delivery' = p_name;
end;
$$;

comment on function lenses.fn_delete_delivery(text) is
  'Deletes a delivery, its waiting events and its dead letters. 22023: there is none of that name.';
