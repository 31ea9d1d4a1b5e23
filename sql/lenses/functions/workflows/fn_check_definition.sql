-- Raises 22023 unless a workflow's definition may be stored: {"nodes", "edges", "triggers"}, each
-- an array and each optional. Other keys are the executor's business. A cycle is an error only when
-- a schedule is activated or dispatched. Of triggers only the form is checked; the schedule table
-- validates their values. At most 1 MB, 64 levels, 200,000 JSON values, 50,000 workflow nodes and
-- 1,000 triggers.
create or replace function lenses.fn_check_definition(p_definition jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_trigger_keys constant text[] := array[
    'id', 'type', 'cron_expr', 'timezone', 'global_model_id', 'inputs_template', 'is_active',
    'assignee_type', 'assignee_id', 'workflow_assignment_id', 'approval_policy', 'retry_policy',
    'failure_policy', 'queue_policy', 'description', 'schedule_type', 'interval_ms', 'start_at',
    'end_at', 'jitter_ms', 'calendar_id', 'pre_dispatch_condition', 'inputs_rotation',
    'workflow_version', 'name', 'run_at', 'on_holiday'
  ];
  c_form constant text := 'A definition is like '
    '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": "b"}]}.';
  v_part text;
  v_at bigint;
  v_value jsonb;
  v_word text;
begin
  if p_definition is null then
    return;
  end if;
  perform lenses.fn_check_json(p_definition, 'definition', 1048576, 64, 200000);
  if jsonb_typeof(p_definition) <> 'object' then
    raise exception using
      errcode = '22023',
      column = 'definition',
      message = format('definition must be a JSON object, not %s', left(p_definition::text, 60)),
      hint = c_form;
  end if;
  foreach v_part in array array['nodes', 'edges', 'triggers'] loop
    if p_definition ? v_part and jsonb_typeof(p_definition -> v_part) <> 'array' then
      raise exception using
        errcode = '22023',
        column = format('definition.%s', v_part),
        message = format(
          'definition.%s must be an array, not %s', v_part, left((p_definition -> v_part)::text, 60)
        ),
        hint = c_form;
    end if;
  end loop;
  if jsonb_array_length(p_definition -> 'nodes') > 50000 then
    raise exception using
      errcode = '22023',
      column = 'definition.nodes',
      message = format('definition has %s nodes', jsonb_array_length(p_definition -> 'nodes')),
      hint = 'At most 50000 nodes.';
  end if;
  if jsonb_array_length(p_definition -> 'triggers') > 1000 then
    raise exception using
      errcode = '22023',
      column = 'definition.triggers',
      message = format(
        'definition has %s triggers', jsonb_array_length(p_definition -> 'triggers')),
      hint = 'At most 1000: make the rest by fn_upsert_workflow_schedule, or split the workflow.';
  end if;

  -- nodes and triggers are known by their ids
  foreach v_part in array array['nodes', 'triggers'] loop
    select e.ordinality - 1, e.value into v_at, v_value
    from jsonb_array_elements(p_definition -> v_part) with ordinality e
    where jsonb_typeof(e.value -> 'id') is distinct from 'string' or e.value ->> 'id' = ''
    order by e.ordinality
    limit 1;
    if found then
      raise exception using
        errcode = '22023',
        column = format('definition.%s[%s]', v_part, v_at),
        message = format('definition.%s[%s] has no id: %s', v_part, v_at, left(v_value::text, 60)),
        hint = 'Each is an object with a non-empty string "id" of its own.';
    end if;
    select e.value ->> 'id' into v_word
    from jsonb_array_elements(p_definition -> v_part) e
    group by 1
    having count(*) > 1
    limit 1;
    if found then
      raise exception using
        errcode = '22023',
        column = format('definition.%s', v_part),
        message = format('definition.%s: the id "%s" is used twice', v_part, left(v_word, 60)),
        hint = 'Each is an object with a non-empty string "id" of its own.';
    end if;
  end loop;
  select e.ordinality - 1, e.value into v_at, v_value
  from jsonb_array_elements(p_definition -> 'nodes') with ordinality e
  where jsonb_typeof(e.value -> 'action') not in ('string', 'null')
  order by e.ordinality
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = format('definition.nodes[%s].action', v_at),
      message = format(
        'definition: the action of node "%s" must be a string, not %s', left(v_value ->> 'id', 60),
        left((v_value -> 'action')::text, 60)
      ),
      hint = 'For example {"id": "a", "action": "publish"}.';
  end if;

  select e.ordinality - 1, e.value into v_at, v_value
  from jsonb_array_elements(p_definition -> 'edges') with ordinality e
  where jsonb_typeof(e.value -> 'from') is distinct from 'string'
    or jsonb_typeof(e.value -> 'to') is distinct from 'string'
  order by e.ordinality
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = format('definition.edges[%s]', v_at),
      message = format(
        'definition.edges[%s] has no "from" and "to": %s', v_at, left(v_value::text, 60)
      ),
      hint = c_form;
  end if;
  select e.ordinality - 1, w.word into v_at, v_word
  from jsonb_array_elements(p_definition -> 'edges') with ordinality e
  cross join lateral (values (e.value ->> 'from'), (e.value ->> 'to')) w (word)
  where w.word not in (select n.value ->> 'id' from jsonb_array_elements(p_definition -> 'nodes') n)
  order by e.ordinality
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = format('definition.edges[%s]', v_at),
      message = format(
        'definition.edges[%s] names a node "%s" that is not there', v_at, left(v_word, 60)
      ),
      detail = coalesce('The nearest node is "' || left(lenses.fn_closest_word(v_word, array(
        select n.value ->> 'id' from jsonb_array_elements(p_definition -> 'nodes') n limit 100
      )), 60) || '".', 'There are no nodes.'),
      hint = 'Edges lead from and to the ids of nodes.';
  end if;

  for v_at, v_value in
    select e.ordinality - 1, e.value
    from jsonb_array_elements(p_definition -> 'triggers') with ordinality e
  loop
    if jsonb_typeof(v_value -> 'type') is distinct from 'string' then
      raise exception using
        errcode = '22023',
        column = format('definition.triggers[%s]', v_at),
        message = format('definition: trigger "%s" has no type', left(v_value ->> 'id', 60)),
        hint = 'For example {"id": "nightly", "type": "schedule_based", "cron_expr": "0 3 * * *"}.';
    end if;
    continue when v_value ->> 'type' <> 'schedule_based';
    select k.key into v_word from jsonb_object_keys(v_value) k (key)
    where k.key <> all (c_trigger_keys)
    limit 1;
    if found then
      raise exception using
        errcode = '22023',
        column = format('definition.triggers[%s].%s', v_at, left(v_word, 60)),
        message = format(
          'definition: trigger "%s": unknown key "%s"; the nearest is "%s"',
          left(v_value ->> 'id', 60), left(v_word, 60),
          case when lenses.fn_former_key_hint(v_word, null) is null
            then lenses.fn_closest_word(v_word, c_trigger_keys) else 'queue_policy' end
        ),
        hint = coalesce(
          lenses.fn_former_key_hint(v_word, v_value -> v_word),
          format('Known keys: %s.', array_to_string(c_trigger_keys, ', ')));
    end if;
    if coalesce(jsonb_typeof(v_value -> 'cron_expr'), 'null') not in ('string', 'null')
      or coalesce(jsonb_typeof(v_value -> 'interval_ms'), 'null') not in ('number', 'null')
      or coalesce(jsonb_typeof(v_value -> 'run_at'), 'null') not in ('string', 'null')
      or coalesce(
        v_value ->> 'cron_expr', v_value ->> 'interval_ms', v_value ->> 'run_at') is null
    then
      raise exception using
        errcode = '22023',
        column = format('definition.triggers[%s]', v_at),
        message = format('definition: trigger "%s" has no time', left(v_value ->> 'id', 60)),
        detail = format('It is %s.', left(v_value::text, 200)),
        hint = 'Give "cron_expr", a string, or "interval_ms", a number, or "run_at", an instant.';
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_check_definition(jsonb) is
  'Raises 22023 unless p_definition is an object of nodes (objects with a unique, non-empty '
  'string id and an optional string action), edges ({"from", "to"} of ids of nodes) and triggers '
  '(objects with a unique id and a type; schedule_based ones with cron_expr or interval_ms and no '
  'unknown key), at most 1 MB, 64 levels, 200,000 values, 50,000 nodes and 1,000 triggers. {} is '
  'the empty graph.';
