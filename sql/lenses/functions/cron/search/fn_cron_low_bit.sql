-- The place of the lowest bit set in a mask that is not 0: its logarithm to base 2 (the number is
-- 1 / ln 2), which rounds to the right integer for all 63 places.
create or replace function lenses.fn_cron_low_bit(p_mask bigint)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (ln((p_mask & -p_mask)::float8) * 1.4426950408889634::float8)::int;
end;
$$;
