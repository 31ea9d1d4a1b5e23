-- Checks what makes a schedule's slots: one of cron_expr, interval_ms and run_at by schedule_type,
-- with on_holiday. It fills cron_spec, where the searches find everything except an interval. p_old
-- is NULL for an INSERT; a spec is parsed again only where its source has changed. Raises 22023
-- with the value.
create or replace function lenses.fn_check_schedule_rule(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns lenses.workflow_schedules
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_new lenses.workflow_schedules := p_new;
  v_slots_a_day integer;
  v_given constant text := format('cron_expr is %s, interval_ms is %s, run_at is %s.',
    coalesce(quote_literal(p_new.cron_expr), 'NULL'), coalesce(p_new.interval_ms::text, 'NULL'),
    coalesce(p_new.run_at::text, 'NULL'));
begin
  perform lenses.fn_check_instant(v_new.run_at, 'run_at', p_old.run_at);
  v_new.on_holiday := coalesce(v_new.on_holiday, 'skip');
  if v_new.schedule_type not in ('cron', 'interval', 'once') then
    raise exception using
      errcode = '22023',
      column = 'schedule_type',
      message = format('schedule_type "%s" is not known', v_new.schedule_type),
      hint = 'Use cron, interval or once.';
  elsif v_new.on_holiday not in ('skip', 'before', 'after') then
    raise exception using
      errcode = '22023',
      column = 'on_holiday',
      message = format('on_holiday "%s" is not known', left(v_new.on_holiday, 60)),
      hint = 'Use skip, before or after.';
  elsif v_new.schedule_type = 'cron' and (
    v_new.interval_ms is not null or v_new.run_at is not null or v_new.cron_expr is null) then
    raise exception using
      errcode = '22023',
      column = 'cron_expr',
      message = 'a cron schedule takes cron_expr and no interval_ms or run_at',
      detail = v_given,
      hint = 'Give cron_expr alone, or interval_ms alone with schedule_type interval.';
  elsif v_new.schedule_type = 'interval' and (
    v_new.cron_expr is not null or v_new.run_at is not null or v_new.interval_ms is null) then
    raise exception using
      errcode = '22023',
      column = 'interval_ms',
      message = 'an interval schedule takes interval_ms and no cron_expr or run_at',
      detail = v_given,
      hint = 'Give interval_ms alone, in milliseconds, at least 300000 (5 minutes).';
  elsif v_new.schedule_type = 'once' and (
    v_new.cron_expr is not null or v_new.interval_ms is not null or v_new.run_at is null) then
    raise exception using
      errcode = '22023',
      column = 'run_at',
      message = 'a schedule with a single slot takes run_at and no cron_expr or interval_ms',
      detail = v_given,
      hint = 'Give run_at alone, an instant such as 2026-12-24 09:00+01.';
  elsif v_new.interval_ms not between 300000 and 316224000000 then
    raise exception using
      errcode = '22023',
      column = 'interval_ms',
      message = format('interval_ms %s is out of range', v_new.interval_ms),
      hint = 'Allowed are 300000 (5 minutes) to 316224000000 (10 years) milliseconds.';
  elsif v_new.on_holiday <> 'skip' and v_new.schedule_type <> 'cron' then
    raise exception using
      errcode = '22023',
      column = 'on_holiday',
      message = format(
        'on_holiday "%s" does not go with a schedule of type %s',
        v_new.on_holiday, v_new.schedule_type
      ),
      hint = 'Only the slots of a cron expression move; use skip.';
  end if;

  if v_new.schedule_type = 'interval' then
    v_new.cron_spec := null;
  elsif v_new.schedule_type = 'once' then
    v_new.run_at := date_trunc('minute', v_new.run_at, 'UTC');
    v_new.cron_spec := null;
    v_new.cron_spec.day_rule := 8;
    v_new.cron_spec.run_at := v_new.run_at;
  elsif p_old.id is null or v_new.cron_spec is null
    or (v_new.cron_expr, v_new.cron_spec, v_new.on_holiday)
      is distinct from (p_old.cron_expr, p_old.cron_spec, p_old.on_holiday)
    or v_new.on_holiday <> 'skip' and v_new.calendar_id is distinct from p_old.calendar_id
  then
    v_new.cron_spec := lenses.fn_cron_parse(v_new.cron_expr);
    v_slots_a_day := bit_count((v_new.cron_spec).minutes::bit(64))
      * bit_count((v_new.cron_spec).hours::bit(32));
    if v_new.on_holiday <> 'skip' and v_slots_a_day > 96 then
      raise exception using
        errcode = '22023',
        column = 'on_holiday',
        message = format(
          'on_holiday "%s" is for at most 96 slots a day, and the expression has %s',
          v_new.on_holiday, v_slots_a_day
        ),
        hint = 'Use skip, or let it fire every 15 minutes at most.';
    end if;
    v_new.cron_spec := lenses.fn_cron_move_to(
      v_new.cron_spec, v_new.calendar_id, v_new.on_holiday);
  end if;
  return v_new;
end;
$$;
