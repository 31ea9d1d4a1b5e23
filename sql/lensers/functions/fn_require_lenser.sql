-- owner: lf_sql_engine
-- For the RPCs: returns the calling tenant. Every other caller gets the same error, whatever the
-- reason; a tenant that lives in another cell is told which.
create or replace function lensers.fn_require_lenser()
returns uuid
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id uuid := lensers.get_auth_lenser_id();
begin
  if v_lenser_id is null then
    raise exception using
      errcode = '42501',
      message = 'no tenant is calling',
      hint = coalesce(
        (
          select format('The tenant lives in cell %s.', p.departed_to)
          from lensers.profiles as p
          where p.user_id = lensers.fn_auth_user_id() and p.departed_at is not null
        ),
        'Send a JWT whose sub is the user_id of a row in lensers.profiles.');
  end if;
  return v_lenser_id;
end;
$$;
