-- The ids of the calendars that an array of rules refers to, exceptions included, each once.
create or replace function lenses.fn_calendar_references(p_rules jsonb)
returns uuid[]
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct (r #>> '{}')::uuid
    from jsonb_path_query(p_rules, 'lax $.**{1 to last}.calendar') as r
  )
$$;
