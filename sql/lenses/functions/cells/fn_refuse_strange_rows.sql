-- owner: lf_sql_engine
-- For fn_arrive_tenant: raises 22023 for a row that is not the arriving tenant's, and 23505 for one
-- whose key another tenant has here.
create or replace function lenses.fn_refuse_strange_rows(
  p_lenser_id uuid,
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
  v_key text;
begin
  if p_arrival = 'own' then
    return;
  end if;
  select x.row_texts ->> 'lenser_id' into v_key
  from pg_temp.tenant_rows as x
  where x.table_name = p_table_name
    and x.row_texts ->> 'lenser_id' is distinct from p_lenser_id::text
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = 'lenser_id',
      message = format('%s has a row of another tenant: %s', p_table_name,
        coalesce('"' || v_key || '"', 'NULL')),
      hint = 'Copy lenses.fn_tenant_rows of one tenant.';
  end if;
  if p_arrival in ('replace', 'merge') then
    execute format(
      'select %s from pg_temp.tenant_rows as x inner join %s as t on %s'
      ' where x.table_name = %L and t.lenser_id is distinct from $1 limit 1',
      lenses.fn_key_text(p_key_columns), p_table_name,
      lenses.fn_key_match(p_table_name::regclass, p_key_columns), p_table_name)
    into v_key
    using p_lenser_id;
    if v_key is not null then
      raise exception using
        errcode = '23505',
        column = 'id',
        message = format('%s "%s" is another tenant''s here', p_table_name, v_key),
        hint = 'Ids are unique within a cell: the tenant cannot come here while both have it.';
    end if;
  end if;
end;
$$;
