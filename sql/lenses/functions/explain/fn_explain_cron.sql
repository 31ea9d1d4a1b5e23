-- How a cron expression matches one minute, field by field: what each field wants, what the wall
-- clock says, whether it is met, and how the two day fields are joined.
create or replace function lenses.fn_explain_cron(
  p_cron_expr text,
  p_timezone text,
  p_at timestamptz
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_months constant text[] := '{January,February,March,April,May,June,July,August,September,'
    'October,November,December}';
  c_weekdays constant text[] := '{Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday}';
  v_spec lenses.cron_spec := lenses.fn_cron_parse(p_cron_expr);
  v_fields text[] := array_remove(string_to_array(
    translate(btrim(p_cron_expr, E' \t\r\n'), E'\t', ' '), ' '), '');
  v_wall timestamp := p_at at time zone p_timezone;
  v_day date := v_wall::date;
  v_first date := date_trunc('month', v_wall)::date;
  v_length integer := extract(day from v_first + interval '1 month' - interval '1 day');
  v_weekday integer := extract(dow from v_first);
  v_days lenses.cron_spec := v_spec;
  v_weekdays lenses.cron_spec := v_spec;
  v_is_day boolean;
  v_is_weekday boolean;
begin
  -- each day field alone: the other one lets every day through, and both must match
  v_days.day_rule := 4;
  v_days.weekdays := 127;
  v_days.nth_weekdays := null;
  v_weekdays.day_rule := 4;
  v_weekdays.days := 2147483647;
  v_weekdays.last_days := null;
  v_weekdays.near_days := null;
  v_is_day := (lenses.fn_cron_item_days(v_days, v_length, v_weekday)
    >> (extract(day from v_day)::integer - 1)) & 1 = 1;
  v_is_weekday := (lenses.fn_cron_item_days(v_weekdays, v_length, v_weekday)
    >> (extract(day from v_day)::integer - 1)) & 1 = 1;
  return jsonb_build_object(
    'days_joined_by', case when v_spec.day_rule in (3, 5) then 'or' else 'and' end,
    'fields', jsonb_build_array(
      jsonb_build_object(
        'field', 'minute', 'wants', v_fields[1], 'value', extract(minute from v_wall),
        'is_met', (v_spec.minutes >> extract(minute from v_wall)::integer) & 1 = 1),
      jsonb_build_object(
        'field', 'hour', 'wants', v_fields[2], 'value', extract(hour from v_wall),
        'is_met', (v_spec.hours >> extract(hour from v_wall)::integer) & 1 = 1),
      jsonb_build_object(
        'field', 'day of month', 'wants', v_fields[3], 'value', extract(day from v_wall),
        'is_met', v_is_day),
      jsonb_build_object(
        'field', 'month', 'wants', v_fields[4], 'value', c_months[extract(month from v_wall)],
        'is_met', (v_spec.months >> (extract(month from v_wall)::integer - 1)) & 1 = 1),
      jsonb_build_object(
        'field', 'day of week', 'wants', v_fields[5],
        'value', c_weekdays[extract(dow from v_wall) + 1], 'is_met', v_is_weekday)
    )
  );
end;
$$;
