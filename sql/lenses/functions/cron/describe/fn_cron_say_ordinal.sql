-- 1st, 2nd, 3rd, 4th and so on up to 31st.
create or replace function lenses.fn_cron_say_ordinal(p_number integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_number || case
    when p_number between 11 and 13 then 'th'
    when p_number % 10 = 1 then 'st'
    when p_number % 10 = 2 then 'nd'
    when p_number % 10 = 3 then 'rd'
    else 'th'
  end;
end;
$$;
