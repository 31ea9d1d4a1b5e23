-- Guard of departed_at, departed_to, departure_settled_at and source_departed_at: whoever could
-- change them could let a tenant run in two cells. Only the functions of lenses/functions/cells do.
-- A role with the table owner's rights may restore rows as they were.
create or replace function lensers.tg_profiles_departed()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'INSERT' and pg_has_role(
    current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage')
  then
    return new;
  end if;
  raise exception using
    errcode = '42501',
    column = 'departed_at',
    message = format('the cell of tenant "%s" is not written by hand', new.id),
    hint = 'lf-sql cells move moves a tenant.';
end;
$$;

comment on function lensers.tg_profiles_departed() is
  'Refuses (42501) to write by hand the columns that say which cell a tenant lives in.';
