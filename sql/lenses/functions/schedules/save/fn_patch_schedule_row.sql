-- Applies p_patch, an object of a schedule's user columns, to a row, for patches and for a
-- definition's triggers. null clears a column, or sets its default. A cron_expr alone makes a cron
-- schedule, an interval_ms alone an interval schedule, a run_at alone a single slot. It checks keys
-- and types (22023, never a cast's own error); the table decides whether the values make sense.
-- p_where begins each message.
create or replace function lenses.fn_patch_schedule_row(
  p_row lenses.workflow_schedules,
  p_patch jsonb,
  p_where text
)
returns lenses.workflow_schedules
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_json constant text[] := array[
    'approval_policy', 'retry_policy', 'failure_policy', 'queue_policy', 'inputs_template',
    'inputs_rotation', 'pre_dispatch_condition'
  ];
  c_rules constant jsonb := '{
    "name": {"type": "text"},
    "description": {"type": "text"},
    "schedule_type": {"type": "word", "values": ["cron", "interval", "once"]},
    "cron_expr": {"type": "text"},
    "interval_ms": {"type": "integer", "min": 300000, "max": 316224000000},
    "run_at": {"type": "text"},
    "on_holiday": {"type": "word", "values": ["skip", "before", "after"]},
    "timezone": {"type": "text"},
    "start_at": {"type": "text"},
    "end_at": {"type": "text"},
    "jitter_ms": {"type": "integer", "min": 0, "max": 86400000},
    "is_active": {"type": "boolean"},
    "assignee_type": {"type": "word", "values": ["agent", "team"]},
    "assignee_id": {"type": "uuid"},
    "workflow_assignment_id": {"type": "uuid"},
    "calendar_id": {"type": "uuid"},
    "global_model_id": {"type": "text"},
    "workflow_version": {"type": "integer", "min": 1, "max": 2147483647}
  }';
  v_known constant text[] := array(select jsonb_object_keys(c_rules)) || c_json;
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_patch) is distinct from 'object' then
    raise exception using
      errcode = '22023',
      column = 'patch',
      message = format(
        '%s must be a JSON object, not %s', p_where, coalesce(lenses.fn_excerpt(p_patch), 'NULL')
      ),
      hint = 'For example {"cron_expr": "0 9 * * 1-5", "timezone": "Europe/Berlin"}.';
  end if;
  select k.key into v_key
  from jsonb_object_keys(p_patch) as k (key)
  where k.key <> all (v_known)
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = left(v_key, 60),
      message = format('%s: unknown key "%s"', p_where, left(v_key, 60))
        || coalesce(format('; the nearest is "%s"',
          case when lenses.fn_former_key_hint(v_key, null) is null
            then lenses.fn_closest_word(v_key, v_known) else 'queue_policy' end), ''),
      hint = coalesce(
        lenses.fn_former_key_hint(v_key, p_patch -> v_key),
        format('Known keys: %s.', array_to_string(v_known, ', ')));
  end if;
  perform lenses.fn_check_policy(
    p_where,
    coalesce((
      select jsonb_object_agg(e.key, e.value)
      from jsonb_each(p_patch - c_json) as e
      where e.value <> 'null'
    ), '{}'),
    c_rules
  );
  if p_patch -> 'is_active' = 'null' then
    raise exception using
      errcode = '22023',
      column = 'is_active',
      message = format('%s.is_active must be true or false, not null', p_where),
      hint = 'Leave the key out to keep the value.';
  end if;

  for v_key, v_value in select e.key, nullif(e.value, 'null') from jsonb_each(p_patch) as e loop
    case v_key
      when 'name' then p_row.name := v_value #>> '{}';
      when 'description' then p_row.description := v_value #>> '{}';
      when 'schedule_type' then p_row.schedule_type := v_value #>> '{}';
      when 'cron_expr' then p_row.cron_expr := v_value #>> '{}';
      when 'interval_ms' then p_row.interval_ms := v_value::bigint;
      when 'run_at' then
        p_row.run_at := lenses.fn_instant_of(v_value #>> '{}', p_where || '.run_at');
      when 'on_holiday' then p_row.on_holiday := coalesce(v_value #>> '{}', 'skip');
      when 'timezone' then p_row.timezone := v_value #>> '{}';
      when 'start_at' then
        p_row.start_at := lenses.fn_instant_of(v_value #>> '{}', p_where || '.start_at');
      when 'end_at' then
        p_row.end_at := lenses.fn_instant_of(v_value #>> '{}', p_where || '.end_at');
      when 'jitter_ms' then p_row.jitter_ms := v_value::integer;
      when 'is_active' then p_row.is_active := v_value::boolean;
      when 'assignee_type' then p_row.assignee_type := v_value #>> '{}';
      when 'assignee_id' then p_row.assignee_id := (v_value #>> '{}')::uuid;
      when 'workflow_assignment_id' then p_row.workflow_assignment_id := (v_value #>> '{}')::uuid;
      when 'calendar_id' then p_row.calendar_id := (v_value #>> '{}')::uuid;
      when 'global_model_id' then p_row.global_model_id := v_value #>> '{}';
      when 'workflow_version' then p_row.workflow_version := v_value::integer;
      when 'approval_policy' then p_row.approval_policy := v_value;
      when 'retry_policy' then p_row.retry_policy := v_value;
      when 'failure_policy' then p_row.failure_policy := v_value;
      when 'queue_policy' then p_row.queue_policy := v_value;
      when 'inputs_template' then p_row.inputs_template := v_value;
      when 'inputs_rotation' then p_row.inputs_rotation := v_value;
      when 'pre_dispatch_condition' then p_row.pre_dispatch_condition := v_value;
    end case;
  end loop;

  p_row.explicit_defaults := p_row.explicit_defaults || array(
    select k.key from jsonb_object_keys(p_patch) as k (key) where right(k.key, 7) = '_policy');

  -- one of the three alone decides the type, and the others are gone
  v_key := case
    when p_patch ? 'schedule_type' and p_patch -> 'schedule_type' <> 'null'
      then p_patch ->> 'schedule_type'
    when num_nonnulls(
      p_patch ->> 'cron_expr', p_patch ->> 'interval_ms', p_patch ->> 'run_at') = 1
      then case
        when p_patch ->> 'cron_expr' is not null then 'cron'
        when p_patch ->> 'interval_ms' is not null then 'interval'
        else 'once' end
  end;
  if v_key is not null and num_nonnulls(
    p_patch ->> 'cron_expr', p_patch ->> 'interval_ms', p_patch ->> 'run_at') = 1
    and (p_patch ->> (case v_key
      when 'cron' then 'cron_expr' when 'interval' then 'interval_ms' else 'run_at' end))
      is not null
  then
    p_row.schedule_type := v_key;
    p_row.cron_expr := case when v_key = 'cron' then p_row.cron_expr end;
    p_row.interval_ms := case when v_key = 'interval' then p_row.interval_ms end;
    p_row.run_at := case when v_key = 'once' then p_row.run_at end;
  end if;
  return p_row;
end;
$$;

comment on function lenses.fn_patch_schedule_row(lenses.workflow_schedules, jsonb, text) is
  'The row with the named columns of p_patch changed; 22023 for an unknown key or a wrong type.';
