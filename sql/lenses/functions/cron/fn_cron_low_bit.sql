-- The place of the lowest bit set in a mask that is not 0. Exact for all 63 places.
-- Not pinned, so that it is inlined: each caller pins the path, and it reads no table.
create or replace function lenses.fn_cron_low_bit(p_mask bigint)
returns integer
language sql
immutable
as $$
  select (ln((p_mask & -p_mask)::float8) * 1.4426950408889634::float8)::int
$$;
