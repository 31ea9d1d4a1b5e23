-- owner: lf_sql_engine
-- One whole tick in one transaction, at p_now. public.fn_dispatch_tick calls it by the server's
-- clock; tests and operators at the psql prompt may give another time. No role that a request can
-- become may call it, because p_now is the clock. Under a statement timeout it ends after half of
-- that time, so that its work is kept; the next call goes on.
create or replace function lenses.fn_dispatch_scheduled_workflows(
  p_now timestamptz default null,
  p_limit integer default null
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_settings lenses.dispatch_settings;
  v_stop_at timestamptz := statement_timestamp() + nullif(
    current_setting('statement_timeout')::interval, interval '0') / 2;
  v_tick_id bigint;
  v_taken integer;
  v_left integer := p_limit;
  v_dispatched integer;
begin
  if p_limit < 1 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit %s is not positive', p_limit),
      hint = 'Give the number of schedules, or NULL for all.';
  end if;
  if p_now not between timestamptz '1970-01-01 00:00:00+00'
    and timestamptz '9999-12-31 23:59:59.999999+00' then
    raise exception using
      errcode = '22023',
      column = 'now',
      message = format('p_now must be an instant of the years 1970 to 9999, not %s', p_now),
      hint = 'Give an instant, or NULL for now.';
  end if;
  select d.* into v_settings from lenses.dispatch_settings as d;
  v_tick_id := lenses.fn_begin_tick_at('function', v_now);
  if v_tick_id is null then
    return 0;
  end if;
  while not coalesce(clock_timestamp() >= v_stop_at, false)
    and lenses.fn_tick_housekeeping(v_tick_id, v_now, 1000) loop
  end loop;
  loop
    v_taken := lenses.fn_dispatch_pass(
      v_tick_id, v_now, least(v_settings.batch_size, v_left), v_settings.max_catchup_per_tick);
    v_left := v_left - v_taken;
    exit when v_taken = 0 or v_left <= 0 or clock_timestamp() >= v_stop_at;
  end loop;
  while not coalesce(clock_timestamp() >= v_stop_at, false)
    and exists (
      select from lenses.dispatch_ticks as t where t.id = v_tick_id and t.parts_again <> '{}')
    and lenses.fn_tick_housekeeping(v_tick_id, v_now, 1000) loop
  end loop;
  update lenses.dispatch_ticks as t
  set finished_at = coalesce(p_now, clock_timestamp()),
    fresh_turns = null, conditional_turns = null, late_turns = null
  where t.id = v_tick_id
  returning t.dispatched into v_dispatched;
  return v_dispatched;
end;
$$;

comment on function lenses.fn_dispatch_scheduled_workflows(timestamptz, integer) is
  'One tick in one transaction. p_now: the instant it acts at (NULL: now); p_limit: at most so '
  'many schedules (NULL: all that are due). Returns the runs inserted, those that wait for '
  'approval included; 0 while frozen. Errors: 22023 for a p_limit below 1 or a p_now outside the '
  'years 1970 to 9999; errors of the server''s own.';
