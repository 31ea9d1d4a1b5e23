-- The expression that makes a row t of the table one JSON object, every column as text: exact for
-- every type, and readable by a version with more columns. Columns that count up by themselves
-- stay.
create or replace function lenses.fn_row_texts(p_table regclass)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select format(
      'jsonb_object(array[%s]::text[], array[%s]::text[])',
      string_agg(quote_literal(a.attname), ', ' order by a.attnum),
      string_agg(format('t.%I::text', a.attname), ', ' order by a.attnum))
    from pg_attribute as a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped);
end;
$$;
