-- Weekdays of a calendar rule, a name or a list of names, as numbers (0 is Sunday).
create or replace function lenses.fn_rule_weekdays(p_weekdays jsonb)
returns integer[]
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select lenses.fn_cron_value(5, w.name)
    from jsonb_array_elements_text(
      case jsonb_typeof(p_weekdays) when 'array' then p_weekdays
        else jsonb_build_array(p_weekdays) end) with ordinality as w (name, place)
    order by w.place
  )
$$;
