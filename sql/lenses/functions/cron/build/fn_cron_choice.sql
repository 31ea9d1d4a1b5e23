-- A whole number among the builder's choices, or its default where it is left out.
create or replace function lenses.fn_cron_choice(
  p_choices jsonb,
  p_key text,
  p_low integer,
  p_high integer,
  p_default integer
)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := p_choices -> p_key;
begin
  if v_value is null then
    return p_default;
  elsif jsonb_typeof(v_value) <> 'number' or v_value::text !~ '^[0-9]{1,2}$'
    or v_value::text::integer not between p_low and p_high then
    perform lenses.fn_cron_refuse_choice(p_key, v_value, 'not allowed',
      format('Give a whole number from %s to %s.', p_low, p_high));
  end if;
  return v_value::text::integer;
end;
$$;
