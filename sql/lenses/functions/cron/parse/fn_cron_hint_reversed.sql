-- A hint for a range that ends before it starts: the same values as a list that is allowed.
-- Weekdays are listed one by one (FRI,SAT,SUN,MON), other fields become two ranges (22-23,0-5),
-- stepped ranges their values.
create or replace function lenses.fn_cron_hint_reversed(p_field integer, p_item text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := regexp_match(p_item, '^([0-9A-Za-z]+)-([0-9A-Za-z]+)(?:/([0-9]+))?$');
  v_low integer := (array[0, 0, 1, 1, 0])[p_field];
  v_high integer := (array[59, 23, 31, 12, 6])[p_field];
  v_names text[] := case p_field
    when 4 then '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}'::text[]
    when 5 then '{SUN,MON,TUE,WED,THU,FRI,SAT}'::text[]
  end;
  v_from integer := lenses.fn_cron_value(p_field, v_parts[1]);
  v_until integer := lenses.fn_cron_value(p_field, v_parts[2]);
  v_step integer := coalesce(lenses.fn_cron_value(0, v_parts[3]), 1);
  v_size integer := v_high - v_low + 1;
  v_list text;
begin
  if p_field = 5 then
    v_from := v_from % 7;
    v_until := v_until % 7;
  end if;
  if v_step not between 1 and v_size then
    v_step := 1;
  end if;
  if p_field = 5 or v_step > 1 then
    select string_agg(
        case
          when v_parts[1] ~ '^[A-Za-z]' then v_names[value - v_low + 1]
          else value::text
        end,
        ',' order by place
      )
      into v_list
      from (
        select place, v_low + (v_from - v_low + place) % v_size as value
          from generate_series(0, (v_until - v_from + v_size) % v_size, v_step) as place
      ) as listed;
  else
    v_list := v_parts[1]
      || case
        when v_from = v_high then ''
        else '-' || case when v_parts[1] ~ '^[A-Za-z]' then v_names[v_size] else v_high::text end
      end
      || ','
      || case
        when v_until = v_low then ''
        else case when v_parts[2] ~ '^[A-Za-z]' then v_names[1] else v_low::text end || '-'
      end
      || v_parts[2];
  end if;
  return format('Ranges do not wrap around. Split it: write %s.', v_list);
end;
$$;
