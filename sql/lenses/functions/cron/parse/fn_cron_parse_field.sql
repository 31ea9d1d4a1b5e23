-- One field of a cron expression as a mask with bit v for value v; p_field counts from 1.
-- A list of stars, values, ranges and steps of these. Raises 22023 at the first other item.
create or replace function lenses.fn_cron_parse_field(
  p_cron_expr text,
  p_field integer,
  p_text text
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_low integer := (array[0, 0, 1, 1, 0])[p_field];
  v_high integer := (array[59, 23, 31, 12, 7])[p_field];
  v_end integer := (array[59, 23, 31, 12, 6])[p_field];
  v_all bigint := (2::bigint << v_end) - (1::bigint << v_low);
  v_item text;
  v_first text;
  v_last text;
  v_step_text text;
  v_from integer;
  v_until integer;
  v_step integer;
  v_mask bigint := 0;
begin
  if p_text = '*' then
    return v_all;
  end if;
  foreach v_item in array string_to_array(p_text, ',') loop
    -- no capturing groups: they would take thirty times as long
    if v_item !~ '^([*]|([0-9]+|[A-Za-z]{3})(-([0-9]+|[A-Za-z]{3}))?)(/[0-9]+)?$' then
      perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'syntax');
    end if;
    v_step_text := split_part(v_item, '/', 2);
    v_last := split_part(v_item, '/', 1);
    v_first := split_part(v_last, '-', 1);
    v_last := split_part(v_last, '-', 2);

    if v_first = '*' then
      v_from := v_low;
      v_until := v_end;
    else
      v_from := case
        when length(v_first) < 3 then v_first::integer
        else lenses.fn_cron_value(p_field, v_first)
      end;
      v_until := case
        when v_last = '' then case when v_step_text = '' then v_from
          else greatest(v_from, v_end) end
        when length(v_last) < 3 then v_last::integer
        else lenses.fn_cron_value(p_field, v_last)
      end;
      if p_field = 5 and v_last ~ '^[Ss]' and v_until = 0 and v_first !~ '^[Ss][Uu]' then
        v_until := 7;
      end if;
      if v_from is null or v_until is null then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'syntax');
      elsif not (v_from between v_low and v_high and v_until between v_low and v_high) then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'range');
      elsif v_from > v_until then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'reversed');
      end if;
    end if;

    v_step := 1;
    if v_step_text <> '' then
      v_step := case
        when length(v_step_text) < 3 then v_step_text::integer
        else lenses.fn_cron_value(0, v_step_text)
      end;
      if v_step not between 1 and v_high then
        perform lenses.fn_cron_refuse_item(p_cron_expr, p_field, v_item, 'step');
      end if;
    end if;
    if v_step = 1 then
      v_mask := v_mask | ((2::bigint << v_until) - (1::bigint << v_from));
    else
      for v_value in v_from..v_until by v_step loop
        v_mask := v_mask | (1::bigint << v_value);
      end loop;
    end if;
  end loop;
  if p_field = 5 and v_mask >= 128 then
    v_mask := (v_mask | 1) & 127;
  end if;
  return v_mask;
end;
$$;
