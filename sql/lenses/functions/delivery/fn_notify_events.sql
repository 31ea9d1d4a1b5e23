-- Wakes the consumers that listen, under the same condition as lenses.fn_notify_executors().
create or replace function lenses.fn_notify_events()
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
select pg_notify('lf_events', '') where pg_notification_queue_usage() < 0.5
$$;
