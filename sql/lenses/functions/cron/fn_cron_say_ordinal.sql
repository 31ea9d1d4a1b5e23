-- 1st, 2nd, 3rd, 4th and so on.
create or replace function lenses.fn_cron_say_ordinal(p_number integer)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select p_number || case
    when p_number % 100 between 11 and 13 then 'th'
    when p_number % 10 = 1 then 'st'
    when p_number % 10 = 2 then 'nd'
    when p_number % 10 = 3 then 'rd'
    else 'th'
  end
$$;
