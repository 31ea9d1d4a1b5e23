-- The beginning of a JSON value, 60 characters at most, for a message about it. Of a large array or
-- object the size alone: its text may be many times as long as what was sent.
create or replace function lenses.fn_excerpt(p_value jsonb)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when jsonb_typeof(p_value) in ('array', 'object') and pg_column_size(p_value) > 1000
      then format('an %s of %s bytes', jsonb_typeof(p_value), pg_column_size(p_value))
    else left(p_value::text, 60)
  end
$$;

comment on function lenses.fn_excerpt(jsonb) is
  'The first 60 characters of a JSON value; of a large array or object its size.';
