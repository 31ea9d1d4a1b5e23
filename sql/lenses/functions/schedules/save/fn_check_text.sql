-- Checks the length of a text from outside, before a check constraint refuses it in less readable
-- words.
create or replace function lenses.fn_check_text(p_value text, p_name text, p_max integer)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if char_length(p_value) > p_max then
    raise exception using
      errcode = '22023',
      column = lenses.fn_error_column(p_name),
      message = format('%s is longer than %s characters: "%s…"', p_name, p_max, left(p_value, 40)),
      detail = format('It has %s.', char_length(p_value)),
      hint = 'Use a shorter text.';
  end if;
end;
$$;

comment on function lenses.fn_check_text(text, text, integer) is
  'Raises 22023 if p_value (called p_name) has more than p_max characters; NULL is within every '
  'limit.';
