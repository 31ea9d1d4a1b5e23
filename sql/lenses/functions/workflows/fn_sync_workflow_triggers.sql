-- Makes the schedules that a definition's triggers registered match the triggers: one schedule for
-- each id, deleted with its entry. An entry changes what it names, and clears what it named before
-- (p_old_definition); everything else that the owner set stays, a pause included. Schedules made by
-- hand (trigger_id NULL) are left alone. The caller has locked the workflow. It goes entry by
-- entry, since each is a row to lock, patch and save, and there are 1,000 at most; the dropped keys
-- of all entries are found at once.
create or replace function lenses.fn_sync_workflow_triggers(
  p_workflow lenses.workflows,
  p_old_definition jsonb
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at bigint;
  v_entry jsonb;
  v_dropped jsonb;
  v_row lenses.workflow_schedules;
  v_is_new boolean;
  v_where text;
  v_column text;
  v_message text;
  v_detail text;
  v_hint text;
begin
  -- By id, as all code locks schedules; the loop below goes by the triggers' ids.
  perform from lenses.workflow_schedules as s
  where s.workflow_id = p_workflow.id and s.lenser_id = p_workflow.lenser_id
    and s.trigger_id is not null
  order by s.id
  for no key update;
  delete from lenses.workflow_schedules as s
  where s.workflow_id = p_workflow.id and s.lenser_id = p_workflow.lenser_id
    and s.trigger_id is not null
    and not exists (
      select from jsonb_array_elements(p_workflow.definition -> 'triggers') as t
      where t.value ->> 'type' = 'schedule_based' and t.value ->> 'id' = s.trigger_id
    );

  for v_at, v_entry, v_dropped in
    with told as materialized (
      select t.value ->> 'id' as id, t.value, t.ordinality - 1 as place
      from jsonb_array_elements(p_workflow.definition -> 'triggers') with ordinality as t
      where t.value ->> 'type' = 'schedule_based'
    ),

    told_before as materialized (
      select t.value ->> 'id' as id, t.value
      from jsonb_array_elements(p_old_definition -> 'triggers') as t
      where t.value ->> 'type' = 'schedule_based'
    )

    select t.place, t.value, d.dropped
    from told as t
    left join told_before as o on o.id = t.id
    cross join lateral (
      select jsonb_object_agg(k.key, null::text) as dropped
      from jsonb_object_keys(o.value) as k (key)
      where not t.value ? k.key
        and k.key not in ('is_active', 'schedule_type', 'cron_expr', 'interval_ms', 'run_at')
    ) as d
    order by t.id
  loop
    v_where := format('trigger "%s"', left(v_entry ->> 'id', 60));
    begin
      perform lenses.fn_check_text(v_entry ->> 'id', 'id', 200);
      select s.* into v_row
      from lenses.workflow_schedules as s
      where s.workflow_id = p_workflow.id and s.lenser_id = p_workflow.lenser_id
        and s.trigger_id = v_entry ->> 'id'
      for no key update;
      v_is_new := not found;
      if v_is_new then
        v_row.lenser_id := p_workflow.lenser_id;
        v_row.workflow_id := p_workflow.id;
        v_row.trigger_id := v_entry ->> 'id';
      end if;
      v_row := lenses.fn_patch_schedule_row(
        v_row, coalesce(v_dropped, '{}') || (v_entry - array['id', 'type']), v_where);
      v_row.is_active := v_row.is_active and v_row.paused_at is null;
      perform lenses.fn_save_schedule(v_row, v_is_new);
    exception when invalid_parameter_value then
      -- The table's trigger knows the value, not which entry it came from.
      get stacked diagnostics
        v_column = column_name, v_message = message_text,
        v_detail = pg_exception_detail, v_hint = pg_exception_hint;
      raise exception using
        errcode = '22023',
        column = concat_ws(
          '.', format('definition.triggers[%s]', v_at), nullif(v_column, '')),
        message = case
          when starts_with(v_message, v_where) then v_message
          else format('%s: %s', v_where, v_message)
        end,
        detail = v_detail, hint = v_hint;
    end;
  end loop;
end;
$$;

comment on function lenses.fn_sync_workflow_triggers(lenses.workflows, jsonb) is
  'Registers the schedule_based triggers of a workflow''s definition as schedules, changes and '
  'deletes those registered before. 22023 for a bad entry.';
