-- Raises 22023 unless a filter may be stored and evaluated: an object of RFC 6901 pointers, each
-- with an object of one or more operators, within 16 KB, 16 levels, 256 values and 40 digits a
-- number. Operands may have any type; types that do not fit make gt, lt and contains false. NULL
-- and {} are filters.
create or replace function automation.fn_check_filter(p_filter jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_operators constant text[] := array['eq', 'neq', 'gt', 'lt', 'contains'];
  c_form constant text := 'A filter is like {"/last_24h_stats/failed": {"lt": 3}}; '
    'operators: eq, neq, gt, lt, contains.';
  v_path text;
  v_tests jsonb;
  v_operator text;
  v_column text;
begin
  if p_filter is null then
    return;
  end if;
  perform lenses.fn_check_json(p_filter, 'filter', 16384, 16, 256);
  if jsonb_typeof(p_filter) <> 'object' then
    raise exception using
      errcode = '22023',
      column = 'pre_dispatch_condition',
      message = format(
        'filter must be a JSON object, not %s %s', jsonb_typeof(p_filter), left(p_filter::text, 60)
      ),
      hint = c_form;
  end if;

  for v_path, v_tests in select e.key, e.value from jsonb_each(p_filter) e loop
    v_column := 'pre_dispatch_condition.' || left(v_path, 200);
    if v_path <> '' and left(v_path, 1) <> '/' then
      raise exception using
        errcode = '22023',
        column = v_column,
        message = format(
          'filter path "%s" is not a JSON Pointer; the nearest is "/%s"',
          left(v_path, 60), left(v_path, 60)
        ),
        detail = 'A pointer (RFC 6901) is empty, for the whole document, or begins with "/".',
        hint = c_form;
    elsif v_path ~ '~([^01]|$)' then
      raise exception using
        errcode = '22023',
        column = v_column,
        message = format(
          'filter path "%s" is not a JSON Pointer: "~" stands alone', left(v_path, 60)
        ),
        detail = 'In a pointer (RFC 6901) "~" is followed by 0 or 1.',
        hint = 'Write "~0" for "~" and "~1" for "/" in a name.';
    elsif jsonb_typeof(v_tests) <> 'object' then
      raise exception using
        errcode = '22023',
        column = v_column,
        message = format(
          'filter path "%s" must have an object of operators, not %s %s', left(v_path, 60),
          jsonb_typeof(v_tests), left(v_tests::text, 60)
        ),
        hint = format('For equality write {"eq": …}. %s', c_form);
    elsif v_tests = '{}' then
      raise exception using
        errcode = '22023',
        column = v_column,
        message = format('filter path "%s" has no operator', left(v_path, 60)),
        hint = c_form;
    end if;
    for v_operator in select jsonb_object_keys(v_tests) loop
      if v_operator <> all (c_operators) then
        raise exception using
          errcode = '22023',
          column = v_column || '.' || left(v_operator, 60),
          message = format(
            'filter path "%s": unknown operator "%s"; the nearest is "%s"', left(v_path, 60),
            left(v_operator, 60), lenses.fn_closest_word(v_operator, c_operators)
          ),
          hint = 'Operators: eq, neq, gt, lt, contains.';
      end if;
    end loop;
  end loop;
end;
$$;

comment on function automation.fn_check_filter(jsonb) is
  'Raises 22023, naming path and operator, unless automation.fn_eval_filter can evaluate '
  'p_filter.';
