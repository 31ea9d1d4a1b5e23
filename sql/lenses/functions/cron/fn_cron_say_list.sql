-- Words joined as English does it: a, b and c.
create or replace function lenses.fn_cron_say_list(p_words text[], p_joint text default 'and')
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case cardinality(p_words)
    when 1 then p_words[1]
    else
      array_to_string(p_words[:cardinality(p_words) - 1], ', ')
      || ' ' || p_joint || ' ' || p_words[cardinality(p_words)]
  end
$$;
