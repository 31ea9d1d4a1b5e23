-- A day field with items L, L-n, nW, LW (day of month, p_field 3) or d#k, dL (day of week, 5), as
-- masks: first the plain items as in lenses.fn_cron_parse_field, then the others as in
-- lenses.cron_spec, NULL where there are none: last_days and near_days, or nth_weekdays. Raises
-- 22023 at the first item that is none of these.
create or replace function lenses.fn_cron_parse_items(
  p_cron_expr text,
  p_field integer,
  p_text text
)
returns bigint[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item text;
  v_word text;
  v_number integer;
  v_nth integer;
  v_plain bigint := 0;
  v_last_days bigint;
  v_near_days bigint;
  v_nth_weekdays bigint;
begin
  foreach v_item in array string_to_array(p_text, ',') loop
    v_word := upper(v_item collate "C");
    if p_field = 3 and v_word = 'LW' then
      v_near_days := coalesce(v_near_days, 0) | (1::bigint << 31);
    elsif p_field = 3 and v_word ~ '^L(-[0-9]+)?$' then
      v_number := case when v_word = 'L' then 0 else lenses.fn_cron_value(0, substr(v_word, 3)) end;
      if v_number > 30 or v_number = 0 and v_word <> 'L' then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'range');
      end if;
      v_last_days := coalesce(v_last_days, 0) | (1::bigint << (30 - v_number));
    elsif p_field = 3 and v_word ~ '^[0-9]+W$' then
      v_number := lenses.fn_cron_value(0, rtrim(v_word, 'W'));
      if v_number not between 1 and 31 then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'range');
      end if;
      v_near_days := coalesce(v_near_days, 0) | (1::bigint << (v_number - 1));
    elsif p_field = 5 and v_word ~ '^([0-9]+|[A-Z]{3})(#[0-9]+|L)$' then
      v_number := lenses.fn_cron_value(5, rtrim(split_part(v_word, '#', 1), 'L'));
      v_nth := case when v_word like '%L' then 6
        else lenses.fn_cron_value(0, split_part(v_word, '#', 2)) end;
      if v_number is null then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'syntax');
      elsif v_number > 7 or v_nth = 0 or v_nth > 5 and v_word not like '%L' then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'range');
      end if;
      v_nth_weekdays := coalesce(v_nth_weekdays, 0)
        | (1::bigint << (7 * (v_nth - 1) + v_number % 7));
    elsif v_item = '' then
      perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'syntax');
    else
      v_plain := v_plain | lenses.fn_cron_parse_field(p_cron_expr, p_field, v_item);
    end if;
  end loop;
  return case p_field
    when 3 then array[v_plain, v_last_days, v_near_days] else array[v_plain, v_nth_weekdays] end;
end;
$$;
