-- Wakes the executors that listen, unless the server's queue of notifications is half full. Where
-- it is full NOTIFY fails the commit, which no function can catch, and at half PostgreSQL begins to
-- warn. Executors poll as well, so no run waits forever. Only this function and
-- lenses.fn_notify_events() notify.
create or replace function lenses.fn_notify_executors()
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
select pg_notify('lf_workflow_runs', '') where pg_notification_queue_usage() < 0.5
$$;
