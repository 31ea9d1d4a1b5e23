-- Checks the four policies and every other object that has a few known keys. p_rules is {"key":
-- rule}, where a rule is {"type": "boolean"}, {"type": "uuid"}, {"type": "integer", "min", "max"},
-- {"type": "word", "values"} or {"type": "words", "max", "length"} with or without "values". Raises
-- 22023 at the first fault, with p_name, the key and the nearest right one. NULL passes: the table
-- decides whether a column may be NULL.
create or replace function lenses.fn_check_policy(p_name text, p_policy jsonb, p_rules jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
  v_key text;
  v_value jsonb;
  v_rule jsonb;
  v_at text;
  v_type text;
  v_expected text;
  v_nearest text;
  v_bad jsonb;
begin
  if p_policy is null then
    return;
  end if;
  if jsonb_typeof(p_policy) <> 'object' then
    v_keys := array(select jsonb_object_keys(p_rules));
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s must be a JSON object, not %s', p_name, lenses.fn_excerpt(p_policy)),
      hint = format('Known keys: %s.', array_to_string(v_keys, ', '));
  end if;

  for v_key, v_value in select e.key, e.value from jsonb_each(p_policy) e loop
    v_rule := p_rules -> v_key;
    v_at := p_name || '.' || left(v_key, 60);
    if v_rule is null then
      v_keys := array(select jsonb_object_keys(p_rules));
      raise exception using
        errcode = '22023',
        column = lenses.fn_error_column(v_at),
        message = format(
          '%s: unknown key "%s"; the nearest is "%s"', p_name, left(v_key, 60),
          lenses.fn_closest_word(v_key, v_keys)
        ),
        hint = format('Known keys: %s.', array_to_string(v_keys, ', '));
    end if;

    v_type := v_rule ->> 'type';
    v_expected := case v_type
      when 'boolean' then 'boolean'
      when 'integer' then 'number'
      when 'words' then 'array'
      else 'string'
    end;
    if jsonb_typeof(v_value) <> v_expected then
      raise exception using
        errcode = '22023',
        column = lenses.fn_error_column(v_at),
        message = format(
          '%s must be %s, not %s %s', v_at,
          case v_type
            when 'boolean' then 'true or false'
            when 'integer' then 'a whole number'
            when 'words' then 'an array of strings'
            when 'uuid' then 'a uuid'
            else 'a string'
          end,
          jsonb_typeof(v_value), lenses.fn_excerpt(v_value)
        ),
        hint = 'Leave the key out for its default.';
    end if;

    if v_type = 'integer' then
      if v_value < v_rule -> 'min' or v_value > v_rule -> 'max' then
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format(
            '%s is %s; the nearest allowed is %s', v_at, lenses.fn_excerpt(v_value),
            case when v_value < v_rule -> 'min' then v_rule ->> 'min' else v_rule ->> 'max' end
          ),
          hint = format('Allowed: %s to %s.', v_rule ->> 'min', v_rule ->> 'max');
      elsif position('.' in v_value::text) > 0 then
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format(
            '%s is %s; the nearest whole number is %s', v_at, lenses.fn_excerpt(v_value),
            round(v_value::numeric)
          ),
          hint = format('Allowed: %s to %s, whole.', v_rule ->> 'min', v_rule ->> 'max');
      end if;

    elsif v_type = 'word' then
      if not v_rule -> 'values' ? (v_value #>> '{}') then
        v_nearest := lenses.fn_closest_word(
          v_value #>> '{}', array(select jsonb_array_elements_text(v_rule -> 'values'))
        );
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format(
            '%s: unknown value %s; the nearest is "%s"', v_at, lenses.fn_excerpt(v_value), v_nearest
          ),
          hint = format('Allowed: %s.', translate(v_rule ->> 'values', '[]"', ''));
      end if;

    elsif v_type = 'uuid' then
      if (v_value #>> '{}') !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format('%s is not a uuid: %s', v_at, lenses.fn_excerpt(v_value)),
          hint = 'A uuid looks like 0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13.';
      end if;

    elsif v_type = 'words' then
      if jsonb_array_length(v_value) > (v_rule ->> 'max')::int then
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format(
            '%s has %s entries; the nearest allowed is %s', v_at, jsonb_array_length(v_value),
            v_rule ->> 'max'
          ),
          hint = format('At most %s entries.', v_rule ->> 'max');
      end if;
      select e.value into v_bad
      from jsonb_array_elements(v_value) e
      where jsonb_typeof(e.value) <> 'string'
        or btrim(e.value #>> '{}') = ''
        or length(e.value #>> '{}') > (v_rule ->> 'length')::int
        or not coalesce(v_rule -> 'values' ? (e.value #>> '{}'), true)
      limit 1;
      if v_bad is not null then
        v_nearest := lenses.fn_closest_word(
          v_bad #>> '{}', array(select jsonb_array_elements_text(v_rule -> 'values'))
        );
        raise exception using
          errcode = '22023',
          column = lenses.fn_error_column(v_at),
          message = format('%s: bad entry %s', v_at, lenses.fn_excerpt(v_bad))
            || coalesce('; the nearest is "' || v_nearest || '"', ''),
          hint = coalesce(
            'Allowed: ' || translate(v_rule ->> 'values', '[]"', '') || '.',
            'Entries are strings of 1 to ' || (v_rule ->> 'length') || ' characters, not blank.'
          );
      end if;
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_check_policy(text, jsonb, jsonb) is
  'Raises 22023 unless p_policy (called p_name in messages) is an object that keeps p_rules.';
