-- Ordered values in words, one a list item: three or more in a row as "a through b".
-- p_words[i] is the word for value i - 1.
create or replace function lenses.fn_cron_say_runs(p_values integer[], p_words text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_values);
  v_place integer := 1;
  v_last integer;
  v_spoken text[] := '{}';
begin
  while v_place <= v_count loop
    v_last := v_place;
    while v_last < v_count and p_values[v_last + 1] = p_values[v_last] + 1 loop
      v_last := v_last + 1;
    end loop;
    if v_last - v_place >= 2 then
      v_spoken := v_spoken || (
        p_words[p_values[v_place] + 1] || ' through ' || p_words[p_values[v_last] + 1]
      );
      v_place := v_last + 1;
    else
      v_spoken := v_spoken || p_words[p_values[v_place] + 1];
      v_place := v_place + 1;
    end if;
  end loop;
  return v_spoken;
end;
$$;
