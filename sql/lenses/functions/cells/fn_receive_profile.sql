-- owner: lf_sql_engine
-- For fn_arrive_tenant: writes the profile of a tenant that arrives, and locks it. It counts as
-- departed until everything is there. False where the tenant lives here already.
create or replace function lenses.fn_receive_profile(p_lenser_id uuid)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_come jsonb;
  v_here lensers.profiles;
begin
  select x.row_texts into v_come
  from pg_temp.tenant_rows as x
  where x.table_name = 'lensers.profiles' and x.row_texts ->> 'id' = p_lenser_id::text;
  if not found then
    raise exception using
      errcode = '22023',
      column = 'lenser_id',
      message = format(
        'the profile of tenant %s has not been copied', coalesce('"' || p_lenser_id || '"', 'NULL')
      ),
      hint = 'Copy lenses.fn_tenant_rows of its old cell into lenses.fn_open_arrival''s table.';
  end if;
  select p.* into v_here from lensers.profiles as p
  where p.user_id = (v_come ->> 'user_id')::uuid and p.id <> p_lenser_id;
  if found then
    raise exception using
      errcode = '23505',
      column = 'user_id',
      message = format('user "%s" is another tenant here: "%s"', v_here.user_id, v_here.id),
      hint = 'A user is one tenant in all cells: keep one of the two.';
  end if;
  insert into lensers.profiles (
    id, user_id, handle, display_name, created_at, departed_at, departed_to)
  values (
    p_lenser_id, (v_come ->> 'user_id')::uuid, v_come ->> 'handle', v_come ->> 'display_name',
    (v_come ->> 'created_at')::timestamptz, now(), 'here')
  on conflict (id) do nothing;
  select p.* into v_here from lensers.profiles as p where p.id = p_lenser_id for no key update;
  if v_here.user_id <> (v_come ->> 'user_id')::uuid then
    raise exception using
      errcode = '23505',
      column = 'lenser_id',
      message = format('tenant "%s" is another user here: "%s"', p_lenser_id, v_here.user_id),
      hint = 'Tenants of two cells have the same id; one of them cannot move.';
  end if;
  if v_here.departed_at is null then
    return false;
  end if;
  update lensers.profiles as p
  set handle = v_come ->> 'handle', display_name = v_come ->> 'display_name'
  where p.id = p_lenser_id;
  return true;
end;
$$;
