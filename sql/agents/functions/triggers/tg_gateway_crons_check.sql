-- owner: lf_sql_engine
-- Validates a gateway cron's row, whatever path it comes by: takes the tenant from the gateway,
-- checks operation, expression, zone and payload, and parses the spec. It looks for the next slot
-- after now where the row is new, its times were edited or it was switched on, so that no edit
-- fires a past slot. A next_run_at that is written explicitly is kept. Where the server has lost
-- the zone next_run_at stays NULL until the tick finds the zone again.
create or replace function agents.tg_gateway_crons_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  if new.lenser_id is null then
    select g.lenser_id into new.lenser_id from agents.gateways g where g.id = new.gateway_id;
  end if;
  if new.operation is null or new.operation !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,62}$' then
    raise exception using
      errcode = '22023',
      column = 'operation',
      message = format(
        'operation "%s" is not a name: a letter, then letters, digits and _ . : -, 63 at most',
        left(new.operation, 80)
      ),
      hint = 'capability_refresh, health_probe, maintenance_window, or a name of your own such as '
        'rotate_credentials.';
  end if;
  perform lenses.fn_check_json(new.payload, 'payload', 65536, 32, 10000);
  if new.payload is null or jsonb_typeof(new.payload) <> 'object' then
    raise exception using
      errcode = '22023',
      column = 'payload',
      message = format(
        'payload must be a JSON object, not %s', coalesce(left(new.payload::text, 60), 'NULL')
      ),
      hint = 'For example {"models": ["small"]}, or {}.';
  end if;
  new.cron_spec := lenses.fn_cron_parse(new.cron_expr);
  if tg_op = 'INSERT' or new.timezone is distinct from old.timezone then
    perform lenses.fn_check_timezone(new.timezone);
  end if;

  if tg_op = 'INSERT' then
    if new.next_run_at is null then
      new.next_run_at := lenses.fn_cron_next_after_spec(
        new.cron_spec, new.timezone, greatest(now(), clock_timestamp()));
    end if;
  else
    if new.next_run_at is not distinct from old.next_run_at and (
      new.next_run_at is null or (new.is_active and not old.is_active)
      or new.cron_expr is distinct from old.cron_expr or new.timezone is distinct from old.timezone
    ) then
      new.next_run_at := case when lenses.fn_has_zone(new.timezone)
        then agents.fn_free_gateway_slot(new, greatest(now(), clock_timestamp())) end;
    end if;
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function agents.tg_gateway_crons_check() is
  'Fills lenser_id, cron_spec and next_run_at of a gateway cron; 22023 for an operation, '
  'expression, zone or payload that is not valid.';
