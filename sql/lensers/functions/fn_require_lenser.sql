-- For the RPCs: returns the calling tenant. Every other caller gets the same error, whatever the
-- reason.
create or replace function lensers.fn_require_lenser()
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id uuid := lensers.get_auth_lenser_id();
begin
  if v_lenser_id is null then
    raise exception using
      errcode = '42501',
      message = 'no tenant is calling',
      hint = 'Send a JWT whose sub is the user_id of a row in lensers.profiles.';
  end if;
  return v_lenser_id;
end;
$$;
