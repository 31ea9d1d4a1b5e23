-- One English sentence for a valid expression, made from its parsed form. Expressions that mean the
-- same get the same sentence, and expressions that differ at any time get different ones.
create or replace function lenses.fn_cron_describe(p_cron_expr text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all_hours constant integer := (1 << 24) - 1;
  v_spec lenses.cron_spec := lenses.fn_cron_parse(p_cron_expr);
  v_time text := lenses.fn_cron_describe_time(v_spec);
  v_days text := lenses.fn_cron_describe_days(v_spec);
begin
  return v_time || case
    when v_days = 'every day' and v_spec.hours = c_all_hours and v_spec.is_real_time then ''
    else ', ' || v_days
  end || case
    when v_spec.is_real_time and not lenses.fn_cron_is_starred(
      lenses.fn_cron_values(v_spec.minutes), lenses.fn_cron_values(v_spec.hours)
    ) then
      ' (a change of the clock can skip or repeat a run)'
    else ''
  end;
end;
$$;

comment on function lenses.fn_cron_describe(text) is
  'A cron expression as one English sentence, in 24-hour times. Raises 22023 for a bad expression.';
