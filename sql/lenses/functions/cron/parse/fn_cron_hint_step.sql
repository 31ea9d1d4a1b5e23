-- A hint for a step of 0 or one larger than its cron field.
create or replace function lenses.fn_cron_hint_step(p_field integer, p_item text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_digits text := ltrim(split_part(p_item, '/', 2), '0');
  v_unit text := (array['minute', 'hour', 'day', 'month', 'weekday'])[p_field];
  v_ms bigint := (array[60000, 3600000, 86400000])[p_field];
begin
  if v_digits = '' then
    return format('A step is at least 1; write * for every %s.', v_unit);
  elsif p_item !~ '^[*]' then
    return format(
      'A step beyond the field leaves the first value alone: write %s.',
      split_part(split_part(p_item, '/', 1), '-', 1)
    );
  elsif length(v_digits) > 6 then
    return format('Steps count within one round of the field; write * for every %s.', v_unit);
  elsif p_field = 1 and v_digits in ('60', '120', '180', '240', '360', '480', '720') then
    return format(
      'Steps start again each hour. For every %s minutes write 0 in the minute field and %s in the '
      'hour field, or use an interval schedule with interval_ms %s.',
      v_digits,
      case when v_digits = '60' then '*' else '*/' || v_digits::integer / 60 end,
      v_digits::bigint * v_ms
    );
  elsif p_field <= 3 then
    return format(
      'Steps start again each %s. For every %s %ss use an interval schedule with interval_ms %s.',
      (array['hour', 'day', 'month'])[p_field], v_digits, v_unit, v_digits::bigint * v_ms
    );
  end if;
  return format(
    'Steps start again each %s. For every %s %ss list what you mean, or use an interval schedule.',
    case p_field when 4 then 'year' else 'week' end, v_digits, v_unit
  );
end;
$$;
