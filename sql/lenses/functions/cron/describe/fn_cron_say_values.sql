-- Ordered values in words: three or more in a row as "a through b", all else listed.
-- p_words[i] is the word for value i - 1.
create or replace function lenses.fn_cron_say_values(p_values integer[], p_words text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return lenses.fn_cron_say_list(lenses.fn_cron_say_runs(p_values, p_words));
end;
$$;
