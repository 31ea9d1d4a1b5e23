-- The distance between neighbours of an ordered list, where all distances are equal; otherwise, and
-- for fewer than two values, NULL.
create or replace function lenses.fn_cron_step(p_values integer[])
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_step integer := p_values[2] - p_values[1];
begin
  for v_place in 3..cardinality(p_values) loop
    if p_values[v_place] - p_values[v_place - 1] <> v_step then
      return null;
    end if;
  end loop;
  return v_step;
end;
$$;
