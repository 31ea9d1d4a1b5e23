-- Raises 53400 for a quota: names the setting, its limit, what there would be, and the way out.
create or replace function lenses.fn_refuse_quota(
  p_setting text,
  p_limit bigint,
  p_what text,
  p_total bigint,
  p_more bigint,
  p_way_out text
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '53400',
    message = format('a tenant has at most %s %s', p_limit, p_what),
    detail = format(
      'The tenant has %s, and this adds %s: %s in all. The setting %s is %s.', p_total - p_more,
      p_more, p_total, p_setting, p_limit),
    hint = format('%s, or ask the operator to raise %s.', p_way_out, p_setting);
end;
$$;
