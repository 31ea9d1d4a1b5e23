-- Whether a text is a day from 1970 to 9999, written 2026-12-25. Never raises.
create or replace function lenses.fn_is_date(p_text text)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_text ~ '^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' then
      right(p_text, 2)::integer <= extract(day from make_date(
        left(p_text, 4)::integer, substr(p_text, 6, 2)::integer, 1)
        + interval '1 month' - interval '1 day')
    else false
  end
$$;
