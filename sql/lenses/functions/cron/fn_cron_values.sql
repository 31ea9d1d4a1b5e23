-- The places of the bits set in a mask, in order.
create or replace function lenses.fn_cron_values(p_mask bigint)
returns integer[]
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select place from generate_series(0, 62) as place where (p_mask >> place) & 1 = 1 order by place
  )
$$;
