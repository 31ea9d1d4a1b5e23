-- owner: lf_sql_engine
-- The calling tenant. Every policy and every RPC calls this. request.jwt.claims decides where it is
-- set; the older request.jwt.claim.sub counts only where it is not. Claims or a subject that cannot
-- be read mean no tenant, never an error. STABLE, never IMMUTABLE, because a plan must not keep its
-- first caller. Policies call it as (select …), once a statement.
create or replace function lensers.get_auth_lenser_id()
returns uuid
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims text := nullif(current_setting('request.jwt.claims', true), '');
  v_user_id uuid;
begin
  begin
    if v_claims is null then
      v_user_id := nullif(current_setting('request.jwt.claim.sub', true), '')::uuid;
    else
      v_user_id := (v_claims::jsonb ->> 'sub')::uuid;
    end if;
  exception when data_exception or program_limit_exceeded then
    return null;
  end;
  return (select p.id from lensers.profiles as p where p.user_id = v_user_id);
end;
$$;

comment on function lensers.get_auth_lenser_id() is
  'The calling tenant: lensers.profiles.id of the JWT''s sub, as PostgREST sets it in '
  'request.jwt.claims (or request.jwt.claim.sub). NULL where there is none, or none that can be '
  'read; never raises.';
