-- owner: lf_sql_engine
-- Whether today's budgets (UTC) already count p_run: it was created or retried today.
create or replace function lenses.fn_counts_today(p_run lenses.workflow_runs)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select p_run.created_at >= date_trunc('day', now(), 'UTC') or exists (
  select from lenses.run_retries as q
  where q.run_id = p_run.id and q.retried_at >= date_trunc('day', now(), 'UTC'))
$$;
