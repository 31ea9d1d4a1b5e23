-- Parses a cron expression of five fields into its stored form. Refuses everything outside the
-- grammar with 22023: the message quotes the expression, names field and item and what is allowed.
-- Bounded: at most 1000 characters are looked at, each once; only ASCII counts as blank or digit.
create or replace function lenses.fn_cron_parse(p_cron_expr text)
returns lenses.cron_spec
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all_days constant integer := (1::bigint << 31) - 1;
  c_all_months constant integer := (1 << 12) - 1;
  c_all_weekdays constant integer := 127;
  c_days_to_29 constant integer := (1 << 29) - 1;
  c_but_february constant integer := 4093;
  c_of_31_days constant integer := 2773;  -- 1, 3, 5, 7, 8, 10 and 12: January, March and so on
  v_fields text[];
  v_spec lenses.cron_spec;
  v_masks bigint[];
  v_is_both boolean;
  v_has_items boolean := false;
begin
  if p_cron_expr is null or length(p_cron_expr) > 1000 then
    perform lenses.fn_cron_refuse_fields(p_cron_expr, null);
  end if;
  v_fields := array_remove(
    string_to_array(translate(btrim(p_cron_expr, E' \t\r\n'), E'\t', ' '), ' '), ''
  );
  if cardinality(v_fields) <> 5 then
    perform lenses.fn_cron_refuse_fields(p_cron_expr, v_fields);
  end if;

  v_spec.minutes := lenses.fn_cron_parse_field(p_cron_expr, 1, v_fields[1]);
  v_spec.hours := lenses.fn_cron_parse_field(p_cron_expr, 2, v_fields[2]);
  if v_fields[3] ~ '[LlWw]' then
    v_masks := lenses.fn_cron_parse_items(p_cron_expr, 3, v_fields[3]);
    v_spec.days := v_masks[1] >> 1;
    v_spec.last_days := v_masks[2];
    v_spec.near_days := v_masks[3];
    v_has_items := true;
  else
    v_spec.days := lenses.fn_cron_parse_field(p_cron_expr, 3, v_fields[3]) >> 1;
  end if;
  v_spec.months := lenses.fn_cron_parse_field(p_cron_expr, 4, v_fields[4]) >> 1;
  if v_fields[5] ~ '[#Ll]' then
    v_masks := lenses.fn_cron_parse_items(p_cron_expr, 5, v_fields[5]);
    v_spec.weekdays := v_masks[1];
    v_spec.nth_weekdays := v_masks[2];
    v_has_items := true;
  else
    v_spec.weekdays := lenses.fn_cron_parse_field(p_cron_expr, 5, v_fields[5]);
  end if;
  v_spec.first_minute := lenses.fn_cron_low_bit(v_spec.hours) * 60
    + lenses.fn_cron_low_bit(v_spec.minutes);
  v_spec.is_real_time := left(v_fields[1], 1) = '*' or left(v_fields[2], 1) = '*';

  v_is_both := left(v_fields[3], 1) = '*' or left(v_fields[5], 1) = '*';
  if not v_is_both and (v_spec.days = c_all_days or v_spec.weekdays = c_all_weekdays) then
    -- either field alone lets every day through
    v_is_both := true;
    v_spec.days := c_all_days;
    v_spec.weekdays := c_all_weekdays;
  end if;
  if v_has_items then
    -- an item adds nothing to a field that lets every day through
    if v_spec.days = c_all_days then
      v_spec.last_days := null;
      v_spec.near_days := null;
    end if;
    if v_spec.weekdays = c_all_weekdays then
      v_spec.nth_weekdays := null;
    end if;
    v_has_items := coalesce(v_spec.last_days, v_spec.near_days, v_spec.nth_weekdays) is not null;
  end if;
  if v_has_items then
    v_spec.day_rule := case when v_is_both then 4 else 5 end;
    if v_is_both and not lenses.fn_cron_items_come(v_spec) then
      perform lenses.fn_cron_refuse_date(p_cron_expr, v_fields);
    end if;
  elsif not v_is_both then
    v_spec.day_rule := 3;
  elsif v_spec.months <> c_all_months or v_spec.days <> c_all_days then
    v_spec.day_rule := 2;
  else
    v_spec.day_rule := case when v_spec.weekdays = c_all_weekdays then 0 else 1 end;
  end if;

  -- a date that no month has: only the 30th and 31st can be missing from all months asked for
  if v_spec.day_rule = 2 and v_spec.days & c_days_to_29 = 0
    and not (v_spec.days & (1 << 29) <> 0 and v_spec.months & c_but_february <> 0)
    and not (v_spec.days & (1 << 30) <> 0 and v_spec.months & c_of_31_days <> 0) then
    perform lenses.fn_cron_refuse_date(p_cron_expr, v_fields);
  end if;
  return v_spec;
end;
$$;

comment on function lenses.fn_cron_parse(text) is
  'Parses a cron expression: minute, hour, day of month, month, day of week, at most 1000 '
  'characters. Raises 22023 naming the field, the item and what is allowed, with a hint.';
