-- Guard of the one row of settings: it cannot go, and says when it was changed and frozen.
create or replace function lenses.tg_dispatch_settings()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE' then
    raise exception using
      errcode = '42501',
      message = format('lenses.dispatch_settings is one row for good: %s refused', lower(tg_op)),
      hint = 'Change it with lenses.fn_set_dispatch_settings.';
  end if;
  new.updated_at := now();
  if not new.is_frozen then
    new.frozen_at := null;
    new.frozen_reason := null;
  elsif not old.is_frozen then
    new.frozen_at := now();
  end if;
  return new;
end;
$$;
