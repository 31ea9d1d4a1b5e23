-- Ordered values in words: three or more in a row as "a through b", all else listed.
-- p_words[i] is the word for value i - 1.
create or replace function lenses.fn_cron_say_values(
  p_values integer[],
  p_words text[],
  p_joint text default 'and'
)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  with placed as (
    select value, value - place as run
      from unnest(p_values) with ordinality as listed (value, place)
  ),
  runs as (
    select min(value) as first, max(value) as last from placed group by run
  ),
  spoken as (
    select
      first,
      case
        when last - first < 2 then p_words[first + 1 : last + 1]
        else array[p_words[first + 1] || ' through ' || p_words[last + 1]]
      end as words
      from runs
  )
  select lenses.fn_cron_say_list(
    array(
      select word
        from spoken, unnest(words) with ordinality as listed (word, place)
        order by first, place
    ),
    p_joint
  )
$$;
