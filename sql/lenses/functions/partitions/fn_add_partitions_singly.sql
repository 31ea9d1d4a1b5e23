-- Makes the partitions of those of p_days days of which the default partition has no rows; false
-- where a lock was not free. Each day reads the default partition.
create or replace function lenses.fn_add_partitions_singly(
  p_parent regclass,
  p_from timestamptz,
  p_days integer
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_is_done boolean := true;
begin
  for v_day in 0 .. p_days - 1 loop
    begin
      perform lenses.fn_add_partitions(p_parent, p_from + v_day * interval '1 day', 1);
    exception
      when lock_not_available then
        v_is_done := false;
      when check_violation then
        continue;
    end;
  end loop;
  return v_is_done;
end;
$$;
