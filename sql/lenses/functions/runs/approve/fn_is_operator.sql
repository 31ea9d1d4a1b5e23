-- Is the caller service_role, or a role that may become it? It looks at the role of the request,
-- not at the owner that a definer function runs as. Only SET ROLE changes that, and it requires
-- membership.
create or replace function lenses.fn_is_operator()
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select pg_has_role(
  coalesce(nullif(current_setting('role', true), 'none'), session_user)::name,
  'service_role', 'member')
$$;
