-- owner: lf_sql_engine
-- For service_role: stops dispatching from the next tick on. Safe to repeat; the newest reason
-- stands.
create or replace function lenses.fn_freeze_dispatch(p_reason text)
returns lenses.dispatch_settings
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row lenses.dispatch_settings;
begin
  perform lenses.fn_check_text(p_reason, 'reason', 2000);
  update lenses.dispatch_settings as d
  set is_frozen = true, frozen_reason = p_reason
  where d.id
  returning d.* into v_row;
  return v_row;
end;
$$;

comment on function lenses.fn_freeze_dispatch(text) is
  'Stops the dispatcher: ticks do nothing at all until fn_unfreeze_dispatch. p_reason is shown '
  'by health. After that, onMissed decides about the slots that were missed. Returns the '
  'settings.';
