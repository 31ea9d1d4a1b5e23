-- The way out for an item with L, W, # or $ that is not in the grammar; p_item in capitals.
-- NULL where the item is none of these.
create or replace function lenses.fn_cron_hint_day_item(p_field integer, p_item text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_weekday constant text := '([0-9]+|SUN|MON|TUE|WED|THU|FRI|SAT)';
  v_is_nth constant boolean := p_item ~ '#';
  v_is_last_weekday constant boolean := p_item ~ ('^(.*-)?' || c_weekday || '-?L(/.*)?$');
begin
  if p_item = '$' then
    return case when p_field = 3 then 'Write L for the last day of the month.'
      else 'Write L in the third field for the last day of the month.' end;
  elsif v_is_nth and p_field = 5 then
    return 'The k-th weekday of a month is written d#k, such as MON#2 or 5#1, k from 1 to 5, and '
      'the last one dL, such as FRIL. It stands alone in the list, never in a range or with a '
      'step.';
  elsif v_is_nth then
    return 'The k-th weekday of a month, such as MON#2, belongs in the fifth field.';
  elsif p_field = 5 and p_item = 'L' then
    return 'Name the weekday: FRIL or 5L is the last Friday of a month. The last day of a month is '
      'L in the third field.';
  elsif p_field = 5 and v_is_last_weekday then
    return 'The last weekday d of a month is written dL, such as FRIL or 5L. It stands alone in '
      'the list, never in a range or with a step.';
  elsif p_field = 5 and p_item ~ '^([0-9]+|L)-?W' then
    return 'W, the nearest Monday to Friday, belongs in the third field, such as 15W or LW.';
  elsif p_field = 3 and p_item ~ '^L?[0-9,-]*[LW]+([-/].*)?$' then
    return 'L is the last day of the month, L-3 the day three days before it, 15W the '
      'Monday-to-Friday day nearest to the 15th, LW the last of these. Each stands alone in the '
      'list, never in a range or with a step.';
  elsif p_field in (1, 2, 4) and p_item ~ '^(L(-[0-9]+)?|[0-9]+W|LW)$' then
    return 'L and W belong in the third field, the day of the month.';
  end if;
  return null;
end;
$$;
