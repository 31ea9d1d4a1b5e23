-- The sub of the caller's JWT. request.jwt.claims decides where it is set; the older
-- request.jwt.claim.sub counts only where it is not. Claims or a subject that cannot be read are
-- NULL, never an error.
create or replace function lensers.fn_auth_user_id()
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims text := nullif(current_setting('request.jwt.claims', true), '');
begin
  if v_claims is null then
    return nullif(current_setting('request.jwt.claim.sub', true), '')::uuid;
  end if;
  return (v_claims::jsonb ->> 'sub')::uuid;
exception when data_exception or program_limit_exceeded then
  return null;
end;
$$;
