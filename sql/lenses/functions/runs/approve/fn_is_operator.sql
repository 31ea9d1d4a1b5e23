-- Is service_role calling, or a role that may become it? The role of the request, not the owner
-- that a definer function runs as; only SET ROLE changes it, which asks for membership.
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
