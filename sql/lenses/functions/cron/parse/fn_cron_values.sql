-- The places of the bits set in a mask, in order.
create or replace function lenses.fn_cron_values(p_mask bigint)
returns integer[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mask bigint := p_mask;
  v_values integer[] := '{}';
begin
  while v_mask <> 0 loop
    v_values := v_values || lenses.fn_cron_low_bit(v_mask);
    v_mask := v_mask & (v_mask - 1);
  end loop;
  return v_values;
end;
$$;
