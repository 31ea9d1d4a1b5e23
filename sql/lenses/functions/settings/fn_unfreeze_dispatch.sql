-- owner: lf_sql_engine
-- For service_role. Safe to repeat.
create or replace function lenses.fn_unfreeze_dispatch()
returns lenses.dispatch_settings
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row lenses.dispatch_settings;
begin
  update lenses.dispatch_settings as d
  set is_frozen = false, frozen_reason = null
  where d.id
  returning d.* into v_row;
  return v_row;
end;
$$;

comment on function lenses.fn_unfreeze_dispatch() is
  'Lets the dispatcher work again; slots missed meanwhile follow each schedule''s onMissed. '
  'Returns the settings.';
