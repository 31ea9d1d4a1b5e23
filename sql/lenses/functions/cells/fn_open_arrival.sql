-- For lf-sql cells: makes the table that the rows of lenses.fn_tenant_rows are copied into, for
-- this transaction alone.
create or replace function lenses.fn_open_arrival()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  create temporary table tenant_rows (
    place bigint generated always as identity,
    table_name text not null,
    row_texts jsonb not null
  ) on commit drop;
  grant select on pg_temp.tenant_rows to lf_sql_engine;
end;
$$;
