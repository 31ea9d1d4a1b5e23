-- A hint where minute and hour seem swapped: the expression with the two exchanged, where that is
-- valid; else NULL. It applies only to an hour beyond 23 that could be a minute, so that checking
-- the exchanged expression never comes back here.
create or replace function lenses.fn_cron_hint_swapped(p_cron_expr text)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('The minute comes first, then the hour: write %s.', w.swapped)
  from (
    select regexp_replace(
      btrim(p_cron_expr, E' \t\r\n'), E'^([^ \t]+)[ \t]+([^ \t]+)', E'\\2 \\1') as swapped
  ) as w
  where btrim(p_cron_expr, E' \t\r\n') ~ E'^([01]?[0-9]|2[0-3])[ \t]+(2[4-9]|[345][0-9])[ \t]'
    and lenses.fn_cron_is_valid(w.swapped)
$$;
