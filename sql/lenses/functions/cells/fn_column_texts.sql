-- The columns of a table that an arriving row has, and the expressions that read them out of
-- x.row_texts. Columns that count up by themselves do so anew; those that the row does not have,
-- because it comes from an older version, get their defaults.
create or replace function lenses.fn_column_texts(
  p_table regclass,
  p_row_texts jsonb,
  out columns text,
  out expressions text,
  out assignments text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select
    string_agg(format('%I', a.attname), ', ' order by a.attnum),
    string_agg(
      format('(x.row_texts ->> %L)::%s', a.attname, format_type(a.atttypid, a.atttypmod)),
      ', ' order by a.attnum),
    string_agg(format('%1$I = excluded.%1$I', a.attname), ', ' order by a.attnum)
  into columns, expressions, assignments
  from pg_attribute as a
  where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    and a.attidentity = '' and a.attgenerated = '' and p_row_texts ? a.attname;
end;
$$;
