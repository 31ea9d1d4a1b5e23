-- Size limits of a jsonb value from outside: bytes of its text form, nested arrays and objects,
-- values of any kind (the root counts, keys do not), and 40 digits a number, written out. Raises
-- 22023 naming p_name and the limit. Works on the text form, so that depth costs no stack: strings
-- are cut out, then brackets, commas and digits are counted.
create or replace function lenses.fn_check_json(
  p_value jsonb,
  p_name text,
  p_max_bytes int,
  p_max_depth int,
  p_max_nodes int
)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_digits constant jsonpath := 'strict $.** ? (@.type() == "number"
    && (@ == 0 || @ >= 1e40 || @ <= -1e40 || (@ < 1e-40 && @ > -1e-40)))';
  v_number text;
  v_text text;
  v_marks int;
  v_brackets text;
  v_depth int := 0;
begin
  if p_value is null then
    return;
  end if;
  -- A binary form is never 16 times as large as its text, so a larger one is refused without
  -- converting it.
  if pg_column_size(p_value) / 16 > p_max_bytes then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s is larger than %s bytes', p_name, p_max_bytes),
      hint = 'Keep large data elsewhere and store a reference to it.';
  end if;
  -- Ten bytes may stand for a number of 131,072 digits, so no larger value is converted before its
  -- numbers are known to be short.
  if pg_column_size(p_value) > 1000 then
    select n::text into v_number
    from jsonb_array_elements(jsonb_path_query_array(p_value, c_digits)) as n
    where length(translate(n::text, '-.', '')) > 40
    limit 1;
  end if;
  if v_number is null then
    v_text := p_value::text;
    if octet_length(v_text) > p_max_bytes then
      raise exception using
        errcode = '22023',
        column = lenses.fn_error_column(p_name),
        message = format('%s is larger than %s bytes', p_name, p_max_bytes),
        detail = format('Its text form has %s bytes.', octet_length(v_text)),
        hint = 'Keep large data elsewhere and store a reference to it.';
    end if;
    -- n characters hold at most n / 2 + 1 values, so a short, flat value needs no counting
    if length(v_text) / 2 < p_max_nodes
      and length(v_text) - length(replace(replace(v_text, '[', ''), '{', '')) <= p_max_depth
      and v_text !~ '[0-9.]{41}'
    then
      return;
    end if;
    v_text := regexp_replace(v_text, E'"(?:[^"\\\\]|\\\\.)*"', '"', 'g');
    if replace(v_text, '.', '') ~ '[0-9]{41}' then
      v_number := substring(v_text from '-?[0-9][0-9.]{40,}');
    end if;
  end if;
  if v_number is not null then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s holds a number of more than 40 digits', p_name),
      detail = format('It begins with %s.', left(v_number, 20)),
      hint = 'Numbers are counted written out, 1e50 has 51 digits; put larger ones into a string.';
  end if;

  v_brackets := translate(regexp_replace(v_text, '[^][{}]+', '', 'g'), '{}', '[]');
  -- an array or object has one child more than it has commas, unless it is empty
  v_marks := 1 + length(v_text) - length(translate(v_text, ',[{', ''))
    - (length(v_text) - length(replace(replace(v_text, '[]', ''), '{}', ''))) / 2;
  if v_marks > p_max_nodes then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s holds more than %s values', p_name, p_max_nodes),
      detail = format('It holds %s; objects, arrays and what is in them count.', v_marks),
      hint = 'Use fewer and simpler entries.';
  end if;
  while v_brackets <> '' loop
    v_depth := v_depth + 1;
    if v_depth > p_max_depth then
      raise exception using
        errcode = '22023',
        column = lenses.fn_error_column(p_name),
        message = format('%s is nested more than %s levels deep', p_name, p_max_depth),
        hint = 'Use a flatter form.';
    end if;
    v_brackets := replace(v_brackets, '[]', '');
  end loop;
end;
$$;

comment on function lenses.fn_check_json(jsonb, text, int, int, int) is
  'Raises 22023, naming p_name and the limit, if p_value has more than p_max_bytes bytes as text, '
  'p_max_depth nested arrays and objects, p_max_nodes values, or a number of more than 40 digits. '
  'NULL is within every limit.';
