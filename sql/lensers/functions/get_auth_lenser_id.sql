-- owner: lf_sql_engine
-- The calling tenant. Every policy and every RPC calls this. A tenant that has departed to another
-- cell is nobody here. STABLE, never IMMUTABLE, because a plan must not keep its first caller.
-- Policies call it as (select …), once a statement.
create or replace function lensers.get_auth_lenser_id()
returns uuid
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select p.id
    from lensers.profiles as p
    where p.user_id = lensers.fn_auth_user_id() and p.departed_at is null);
end;
$$;

comment on function lensers.get_auth_lenser_id() is
  'The calling tenant: lensers.profiles.id of the JWT''s sub, as PostgREST sets it in '
  'request.jwt.claims (or request.jwt.claim.sub). NULL where there is none, or none that can be '
  'read, and for a tenant that lives in another cell; never raises.';
