-- Has this session's statement reached its statement_timeout? This tells a statement that was cut
-- off from one that was cancelled, since both raise query_canceled. The server counts from the
-- first message of a statement, statement_timestamp() from the last, which a busy machine may read
-- later: nine tenths of the time are enough.
create or replace function lenses.fn_is_timed_out()
returns boolean
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
select current_setting('statement_timeout')::interval > interval '0'
  and clock_timestamp()
  >= statement_timestamp() + current_setting('statement_timeout')::interval * 0.9
$$;
