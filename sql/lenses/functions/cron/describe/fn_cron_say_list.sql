-- Words joined as English does it: a, b and c.
create or replace function lenses.fn_cron_say_list(p_words text[], p_joint text default 'and')
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_words);
begin
  if v_count = 1 then
    return p_words[1];
  end if;
  return array_to_string(p_words[:v_count - 1], ', ') || ' ' || p_joint || ' ' || p_words[v_count];
end;
$$;
