-- Guard of the seeds: read-only for every role, including the table's owner and superusers, in
-- every replication mode. No setting disables it, since any client may change a setting. Seeds come
-- with an install or a restore, by a role with the owner's rights; writing a row as it is already
-- passes.
create or replace function lenses.tg_schedule_calendars_seed()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    if not (new.is_seed or new.lenser_id is null)
      or pg_has_role(
        current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage'
      )
    then
      return new;
    end if;
  elsif tg_op = 'UPDATE' then
    if not (old.is_seed or old.lenser_id is null or new.is_seed or new.lenser_id is null)
      or new *= old  -- byte for byte: as jsonb, 2 equals 2.0
    then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if not (old.is_seed or old.lenser_id is null) then
      return old;
    end if;
  end if;
  raise exception using
    errcode = '42501',
    message = format(
      'calendars that come with the product are read-only: %s refused', lower(tg_op)
    ),
    hint = 'Clone one: fn_create_schedule_calendar(…, p_clone_of => its id).';
end;
$$;

comment on function lenses.tg_schedule_calendars_seed() is
  'Refuses (42501) to make, change or remove a seed calendar.';
