-- Is an error the server's own? No schedule has caused such an error: it ends a batch and counts
-- against no schedule.
create or replace function lenses.fn_is_server_error(p_sqlstate text)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_error_kind(p_sqlstate) = 'server'
$$;
