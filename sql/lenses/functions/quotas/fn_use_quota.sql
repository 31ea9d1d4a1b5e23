-- owner: lf_sql_engine
-- Books what a tenant has taken or given back, and raises 53400 where it takes more than a quota of
-- lenses.dispatch_settings allows. Locks the tenant's row until the transaction ends: of two saves
-- at the limit the second waits and is refused. Giving back is never refused, nor is a change that
-- takes no more of the kind that is over its limit.
create or replace function lenses.fn_use_quota(
  p_lenser_id uuid,
  p_schedules bigint,
  p_gateway_crons bigint,
  p_template_bytes bigint
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings lenses.dispatch_settings;
  v_usage lenses.lenser_usage;
begin
  insert into lenses.lenser_usage as u (lenser_id, schedules, gateway_crons, template_bytes)
  values (p_lenser_id, p_schedules, p_gateway_crons, p_template_bytes)
  on conflict (lenser_id) do update
  set schedules = u.schedules + excluded.schedules,
    gateway_crons = u.gateway_crons + excluded.gateway_crons,
    template_bytes = u.template_bytes + excluded.template_bytes
  returning u.* into v_usage;

  -- Quotas hold what a tenant makes, not what it brings from another cell.
  if lensers.fn_is_departed(p_lenser_id) then
    return;
  end if;
  select d.* into v_settings from lenses.dispatch_settings as d;
  if p_schedules > 0 and v_usage.schedules > v_settings.max_schedules_per_lenser then
    perform lenses.fn_refuse_quota(
      'max_schedules_per_lenser', v_settings.max_schedules_per_lenser, 'schedules',
      v_usage.schedules, p_schedules, 'Delete some');
  end if;
  if p_gateway_crons > 0
    and v_usage.gateway_crons > v_settings.max_gateway_crons_per_lenser
  then
    perform lenses.fn_refuse_quota(
      'max_gateway_crons_per_lenser', v_settings.max_gateway_crons_per_lenser, 'gateway crons',
      v_usage.gateway_crons, p_gateway_crons, 'Remove some');
  end if;
  if p_template_bytes > 0
    and v_usage.template_bytes > v_settings.max_template_bytes_per_lenser
  then
    perform lenses.fn_refuse_quota(
      'max_template_bytes_per_lenser', v_settings.max_template_bytes_per_lenser,
      'bytes of templates, rotations, conditions and payloads', v_usage.template_bytes,
      p_template_bytes, 'Make some smaller');
  end if;
end;
$$;
