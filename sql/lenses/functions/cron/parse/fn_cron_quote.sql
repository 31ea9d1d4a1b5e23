-- A piece of a caller's text as messages quote it: in double quotes, cut after p_most characters.
create or replace function lenses.fn_cron_quote(p_text text, p_most integer)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select '"' || left(p_text, p_most)
    || case when length(p_text) > p_most then '...' else '' end || '"'
$$;
