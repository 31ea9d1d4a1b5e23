-- owner: lf_sql_engine
-- Everything that can be wrong, one line each: the machinery first, then every schedule that is not
-- fine. p_facts is what only the connected role can see, gathered by lf-sql with
-- sql/queries/health_*.sql; where it is NULL the lines on pg_cron say so.
create or replace function lenses.fn_health(
  p_facts jsonb default null, p_has_schedules boolean default true)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select h.* from lenses.fn_health_driver(p_facts) as h
union all
select h.* from lenses.fn_health_work(p_facts) as h where not pg_is_in_recovery()
union all
select h.* from lenses.fn_health_deliveries() as h where not pg_is_in_recovery()
union all
select h.* from lenses.fn_health_schedules(null) as h where p_has_schedules
  and not pg_is_in_recovery()
union all
select h.* from lenses.fn_health_gateway_crons(null) as h where p_has_schedules
  and not pg_is_in_recovery()
$$;

comment on function lenses.fn_health(jsonb, boolean) is
  'Health, a line a row, in the order to be shown: check_name, state (ok; warn: shown, but not a '
  'failure; bad), label, detail, advice (NULL where there is nothing to do), schedule_id. '
  'p_facts: what lf-sql asks of the server''s catalogue, or NULL; p_has_schedules false: the '
  'machinery alone.';
