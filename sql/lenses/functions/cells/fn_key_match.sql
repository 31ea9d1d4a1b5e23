-- The condition that row t of the table has the key of the arriving row x.
create or replace function lenses.fn_key_match(p_table regclass, p_columns text[])
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      format('t.%1$I = (x.row_texts ->> %1$L)::%2$s', a.attname, format_type(a.atttypid, -1)),
      ' and ' order by a.attnum)
    from pg_attribute as a
    where a.attrelid = p_table and a.attname = any (p_columns));
end;
$$;
