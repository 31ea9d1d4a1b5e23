-- The expression of a row's key as one text, of columns of t.
create or replace function lenses.fn_key_text(p_columns text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select 'concat_ws('' '', ' || string_agg(format('t.%I', c.name), ', ' order by c.place) || ')'
    from unnest(p_columns) with ordinality as c (name, place));
end;
$$;
