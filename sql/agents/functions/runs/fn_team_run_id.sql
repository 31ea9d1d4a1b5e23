-- The id of a run's team run, derived, so that the audit of a refused insert can name it before it
-- is there, and a run that comes back after a failover has the same one.
create or replace function agents.fn_team_run_id(p_run_id uuid)
returns uuid
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select encode(substr(sha256(convert_to('team_run:' || p_run_id, 'UTF8')), 1, 16), 'hex')::uuid
$$;
