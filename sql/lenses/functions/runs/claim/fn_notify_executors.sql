-- Wakes the executors that listen, unless the server's queue of notifications is half full: where
-- it is full, NOTIFY fails the commit, which nobody can catch, and half is where PostgreSQL begins
-- to warn. They poll as well, so nothing waits for good. Beside lenses.fn_notify_events() the only
-- place that notifies.
create or replace function lenses.fn_notify_executors()
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
select pg_notify('lf_workflow_runs', '') where pg_notification_queue_usage() < 0.5
$$;
