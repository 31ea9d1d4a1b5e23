-- The id of a run's team run, derived from the run's id. So the audit of a refused insert can name
-- the team run before it exists, and a run that comes back after a failover gets the same one.
create or replace function agents.fn_team_run_id(p_run_id uuid)
returns uuid
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select encode(substr(sha256(convert_to('team_run:' || p_run_id, 'UTF8')), 1, 16), 'hex')::uuid
$$;
