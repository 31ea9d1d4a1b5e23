-- Does p_payload pass p_filter? The answer is true or false, and no payload raises an error once
-- fn_check_filter accepts the filter; any other filter raises 22023, whatever the payload. Types
-- are checked before values are used, statement by statement, so that no plan can try a cast first.
-- jsonb compares numbers as numeric. It runs for every slot with a condition, so it uses
-- expressions only: a query would cost as much as all the rest.
create or replace function automation.fn_eval_filter(p_filter jsonb, p_payload jsonb)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_filter::text;
  v_entries jsonb;
  v_path text;
  v_tests jsonb;
  v_is_form boolean;
  v_value jsonb;
  v_type text;
  v_operator text;
  v_operand jsonb;
  v_order numeric;
  v_passes boolean := true;
begin
  if p_filter is null then
    return true;
  end if;
  -- n characters hold at most n / 2 + 1 values, so a short, flat filter needs no counting
  if jsonb_typeof(p_filter) <> 'object' or length(v_text) > 500
    or length(v_text) - length(replace(replace(v_text, '[', ''), '{', '')) > 16
    or v_text ~ '[0-9.]{41}'
  then
    perform automation.fn_check_filter(p_filter);
  end if;

  v_entries := jsonb_path_query_array(p_filter, '$.keyvalue()');
  for v_at in 0 .. jsonb_array_length(v_entries) - 1 loop
    v_path := v_entries -> v_at ->> 'key';
    v_tests := v_entries -> v_at -> 'value';
    v_is_form := left(v_path, 1) in ('/', '')
      and (position('~' in v_path) = 0 or v_path !~ '~([^01]|$)')
      and jsonb_typeof(v_tests) = 'object' and v_tests <> '{}';
    if v_is_form then
      v_is_form := v_tests - '{eq,neq,gt,lt,contains}'::text[] = '{}';
    end if;
    if not v_is_form then
      perform automation.fn_check_filter(p_filter);
      raise exception using
        message = format(
          'filter %s is not valid, but fn_check_filter accepted it', left(v_text, 200));
    end if;
    -- The result is false by now, but the form of the other paths must still be checked.
    continue when not v_passes;

    v_value := automation.fn_pointer_value(p_payload, v_path);
    v_type := jsonb_typeof(v_value);

    v_passes := coalesce(v_value = v_tests -> 'eq', true)
      and coalesce(v_value <> v_tests -> 'neq', true);
    foreach v_operator in array '{gt,lt}'::text[] loop
      v_operand := v_tests -> v_operator;
      continue when v_operand is null;
      v_order := null;
      if v_type = 'number' and jsonb_typeof(v_operand) = 'number' then
        v_order := case when v_value > v_operand then 1.0 when v_value < v_operand then -1.0 end;
      elsif v_type = 'string' and jsonb_typeof(v_operand) = 'string' then
        v_order := automation.fn_instant(v_value #>> '{}')
          - automation.fn_instant(v_operand #>> '{}');
      end if;
      v_passes := v_passes
        and coalesce(case v_operator when 'gt' then v_order > 0 else v_order < 0 end, false);
    end loop;
    v_operand := v_tests -> 'contains';
    if v_operand is not null then
      if v_type = 'string' and jsonb_typeof(v_operand) = 'string' then
        v_passes := v_passes and strpos(v_value #>> '{}', v_operand #>> '{}') > 0;
      elsif v_type = 'array' and jsonb_typeof(v_operand) not in ('array', 'object') then
        v_passes := v_passes and v_value @> v_operand;
      elsif v_type = 'array' then
        -- @> would also match a part of an element
        v_passes := v_passes
          and exists (select from jsonb_array_elements(v_value) e where e.value = v_operand);
      else
        v_passes := false;
      end if;
    end if;
  end loop;
  return v_passes;
end;
$$;

comment on function automation.fn_eval_filter(jsonb, jsonb) is
  'Does p_payload pass p_filter, {JSON Pointer: {operator: operand, …}, …}? All must hold. eq, '
  'neq: strict JSON equality, a missing path is null; gt, lt: two numbers, exactly, or two '
  'ISO-8601 date-times with Z or an offset; contains: a substring of a string, an element of an '
  'array. A missing path or other types: false. NULL and {} are true. Any other filter raises '
  '22023; no payload ever does.';
