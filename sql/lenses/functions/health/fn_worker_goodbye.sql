-- owner: lf_sql_engine
-- The name by which a process lf-sql worker of version 0.2 calls lenses.fn_remove_worker: such a
-- process may outlive the upgrade, and stops afterwards.
create or replace function lenses.fn_worker_goodbye(p_worker_id text)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_remove_worker(p_worker_id)
$$;

comment on function lenses.fn_worker_goodbye(text) is
  'For lf-sql worker 0.2: as lenses.fn_remove_worker.';
