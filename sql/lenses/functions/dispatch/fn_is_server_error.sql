-- Is an error the server's own (connection, transaction, rollback, resources, state, intervention,
-- system)? Such errors are nobody's poison: they end a batch and count against no schedule.
create or replace function lenses.fn_is_server_error(p_sqlstate text)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select substr(p_sqlstate, 1, 2) in ('08', '25', '40', '53', '55', '57', '58')
$$;
