-- Raises 22023 for one of the visual builder's choices; never returns.
create or replace function lenses.fn_cron_refuse_choice(
  p_key text,
  p_value jsonb,
  p_reason text,
  p_hint text
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '22023',
    column = p_key,
    message = format(
      'invalid schedule choice %s: %s: %s',
      lenses.fn_cron_quote(p_key, 60), left(coalesce(p_value::text, 'missing'), 100), p_reason
    ),
    hint = p_hint;
end;
$$;
