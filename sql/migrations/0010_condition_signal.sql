-- An operator may replace this function; a migration makes it, so that upgrades keep his.
create function lenses.fn_condition_signal(p_schedule_id uuid)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select null::jsonb
$$;

comment on function lenses.fn_condition_signal(uuid) is 'Gives signal_rpc_result of the condition context for a schedule. Returns NULL; replace it by create or replace function to feed a signal of your own. It runs inside the tick: keep it fast.';
