-- owner: lf_sql_engine
-- Records for health why nothing can be posted; NULL means that it can. It writes only where the
-- reason changes.
create or replace function lenses.fn_note_delivery(p_name text, p_problem text)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
update lenses.deliveries as d
set problem = left(p_problem, 2000)
where d.name = p_name and d.problem is distinct from left(p_problem, 2000)
$$;
