-- owner: lf_sql_engine
-- A process lf-sql worker stops of its own will: its heartbeat goes, so that health does not look
-- for it.
create or replace function lenses.fn_remove_worker(p_worker_id text)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
delete from lenses.worker_heartbeats as w where w.worker_id = p_worker_id
$$;

comment on function lenses.fn_remove_worker(text) is
  'For lf-sql worker: removes the heartbeat of a process that stops.';
