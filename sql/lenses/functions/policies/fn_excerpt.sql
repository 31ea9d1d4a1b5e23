-- The beginning of a JSON value, 60 characters at most, for a message about it. Of a large array or
-- object the size alone: its text may be many times as long as what was sent. Two statements: in
-- one expression a planner that knows the value may write it out before the condition is tested.
create or replace function lenses.fn_excerpt(p_value jsonb)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_value) in ('array', 'object') and pg_column_size(p_value) > 1000 then
    return format('an %s of %s bytes', jsonb_typeof(p_value), pg_column_size(p_value));
  end if;
  return left(p_value::text, 60);
end;
$$;

comment on function lenses.fn_excerpt(jsonb) is
  'The first 60 characters of a JSON value; of a large array or object its size.';
