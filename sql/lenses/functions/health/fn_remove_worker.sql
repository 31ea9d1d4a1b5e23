-- owner: lf_sql_engine
-- For a process lf-sql worker that stops on purpose: removes its heartbeat, so that health does not
-- miss it.
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
