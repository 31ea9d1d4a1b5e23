-- owner: lf_sql_engine
-- For service_role: changes the named settings, all or none.
create or replace function lenses.fn_set_dispatch_settings(p_patch jsonb)
returns lenses.dispatch_settings
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_rules constant jsonb := '{
    "is_frozen": {"type": "boolean"},
    "frozen_reason": {"type": "text"},
    "batch_size": {"type": "integer", "min": 1, "max": 10000},
    "dispatch_lanes": {"type": "integer", "min": 1, "max": 16},
    "missed_grace": {"type": "text"},
    "max_catchup_per_tick": {"type": "integer", "min": 1, "max": 10000},
    "default_queue_mode": {"type": "word", "values": ["parallel", "serial"]},
    "default_on_overlap": {"type": "word", "values": ["skip", "queue", "replace"]},
    "default_on_missed": {"type": "word", "values": ["skip", "run_once", "backfill", "spread"]},
    "default_jitter_ms": {"type": "integer", "min": 0, "max": 86400000},
    "retention": {"type": "text"},
    "events_retention": {"type": "text"},
    "logs_retention": {"type": "text"},
    "ticks_retention": {"type": "text"},
    "max_schedules_per_lenser": {"type": "integer", "min": 1, "max": 2147483647},
    "max_gateway_crons_per_lenser": {"type": "integer", "min": 1, "max": 2147483647},
    "max_pending_runs_per_lenser": {"type": "integer", "min": 1, "max": 2147483646},
    "max_template_bytes_per_lenser": {"type": "integer", "min": 1, "max": 1000000000000000}
  }';
  -- NULL is a value of these: no limit; of the retentions, as long as runs.
  c_nullable constant text[] := array[
    'frozen_reason', 'events_retention', 'logs_retention', 'max_schedules_per_lenser',
    'max_gateway_crons_per_lenser', 'max_pending_runs_per_lenser', 'max_template_bytes_per_lenser'];
  v_row lenses.dispatch_settings;
begin
  if p_patch is null then
    raise exception using
      errcode = '22023',
      column = 'patch',
      message = 'settings must be a JSON object, not NULL',
      hint = 'For example {"batch_size": 500}.';
  end if;
  perform lenses.fn_check_policy(
    'settings',
    case when jsonb_typeof(p_patch) = 'object' then p_patch - array(
      select n.name from unnest(c_nullable) as n (name) where p_patch -> n.name = 'null')
    else p_patch end,
    c_rules
  );
  perform lenses.fn_check_text(p_patch ->> 'frozen_reason', 'settings.frozen_reason', 2000);
  update lenses.dispatch_settings as d
  set is_frozen = coalesce((p_patch -> 'is_frozen')::boolean, d.is_frozen),
    frozen_reason = case
      when p_patch ? 'frozen_reason' then p_patch ->> 'frozen_reason'
      else d.frozen_reason
    end,
    batch_size = coalesce((p_patch -> 'batch_size')::integer, d.batch_size),
    dispatch_lanes = coalesce((p_patch -> 'dispatch_lanes')::integer, d.dispatch_lanes),
    missed_grace = coalesce(
      lenses.fn_setting_interval(p_patch ->> 'missed_grace', 'settings.missed_grace', '0', '1 day'),
      d.missed_grace
    ),
    max_catchup_per_tick = coalesce(
      (p_patch -> 'max_catchup_per_tick')::integer, d.max_catchup_per_tick
    ),
    default_queue_mode = coalesce(p_patch ->> 'default_queue_mode', d.default_queue_mode),
    default_on_overlap = coalesce(p_patch ->> 'default_on_overlap', d.default_on_overlap),
    default_on_missed = coalesce(p_patch ->> 'default_on_missed', d.default_on_missed),
    default_jitter_ms = coalesce((p_patch -> 'default_jitter_ms')::integer, d.default_jitter_ms),
    retention = coalesce(
      lenses.fn_setting_interval(
        p_patch ->> 'retention', 'settings.retention', '31 days', '36500 days'
      ),
      d.retention
    ),
    events_retention = case when p_patch ? 'events_retention'
      then lenses.fn_setting_interval(
        p_patch ->> 'events_retention', 'settings.events_retention', '31 days', '36500 days')
      else d.events_retention end,
    logs_retention = case when p_patch ? 'logs_retention'
      then lenses.fn_setting_interval(
        p_patch ->> 'logs_retention', 'settings.logs_retention', '31 days', '36500 days')
      else d.logs_retention end,
    ticks_retention = coalesce(
      lenses.fn_setting_interval(
        p_patch ->> 'ticks_retention', 'settings.ticks_retention', '1 hour', '36500 days'
      ),
      d.ticks_retention
    ),
    max_schedules_per_lenser = case when p_patch ? 'max_schedules_per_lenser'
      then (p_patch ->> 'max_schedules_per_lenser')::integer
      else d.max_schedules_per_lenser end,
    max_gateway_crons_per_lenser = case when p_patch ? 'max_gateway_crons_per_lenser'
      then (p_patch ->> 'max_gateway_crons_per_lenser')::integer
      else d.max_gateway_crons_per_lenser end,
    max_pending_runs_per_lenser = case when p_patch ? 'max_pending_runs_per_lenser'
      then (p_patch ->> 'max_pending_runs_per_lenser')::integer
      else d.max_pending_runs_per_lenser end,
    max_template_bytes_per_lenser = case when p_patch ? 'max_template_bytes_per_lenser'
      then (p_patch ->> 'max_template_bytes_per_lenser')::bigint
      else d.max_template_bytes_per_lenser end
  where d.id
  returning d.* into v_row;
  return v_row;
end;
$$;

comment on function lenses.fn_set_dispatch_settings(jsonb) is
  'Changes the named columns of lenses.dispatch_settings and returns the row: batch_size, '
  'dispatch_lanes (1 to 16: how many drivers share the work; lf-sql install registers their '
  'jobs), missed_grace ("2 minutes"), max_catchup_per_tick, default_queue_mode (parallel, '
  'serial), default_on_overlap, default_on_missed, default_jitter_ms (ms), retention (of runs, '
  'at least 31 days), events_retention and logs_retention (the same; null: as retention), '
  'ticks_retention, is_frozen, frozen_reason, and the quotas, of which null is none: '
  'max_schedules_per_lenser, max_gateway_crons_per_lenser, max_pending_runs_per_lenser, '
  'max_template_bytes_per_lenser. 22023: unknown key (the nearest is named), wrong type, out of '
  'range.';
