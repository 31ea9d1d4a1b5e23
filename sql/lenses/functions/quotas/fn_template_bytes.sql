-- What a schedule's own JSON counts for under max_template_bytes_per_lenser: bytes as text, the
-- same however it is stored.
create or replace function lenses.fn_template_bytes(
  p_template jsonb,
  p_rotation jsonb,
  p_condition jsonb
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(coalesce(p_template::text, '')) + octet_length(coalesce(p_rotation::text, ''))
    + octet_length(coalesce(p_condition::text, ''));
end;
$$;
