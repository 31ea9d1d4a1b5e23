-- Who may do what. First it revokes everything from everyone except the owners, including what a
-- platform's default privileges have granted. Then comes the allow-list: one block for each role,
-- one statement for each right, sorted; functions by exact signature.

do $$
declare
  v_schemas constant text[] := array['lf_sql', 'lensers', 'lenses', 'agents', 'automation'];
  v_commands text[];
  v_command text;
begin
  v_commands := array(
    select pg_catalog.format('revoke all on schema %I from %s cascade', n.nspname, w.grantee)
    from pg_catalog.pg_namespace as n
    cross join lateral (
      select distinct case a.grantee when 0 then 'public'
        else a.grantee::pg_catalog.regrole::text end as grantee
      from pg_catalog.aclexplode(n.nspacl) as a where a.grantee <> n.nspowner
    ) as w
    where n.nspname = any(v_schemas)
    union all
    select pg_catalog.format(
      'revoke all on %s %s from %s cascade',
      case c.relkind when 'S' then 'sequence'
        else 'table' end, c.oid::pg_catalog.regclass, w.grantee
    )
    from pg_catalog.pg_class as c
    cross join lateral (
      select distinct case a.grantee when 0 then 'public'
        else a.grantee::pg_catalog.regrole::text end as grantee
      from (
        select x.grantee from pg_catalog.aclexplode(c.relacl) as x
        union all
        select x.grantee
        from pg_catalog.pg_attribute as t cross join lateral pg_catalog.aclexplode(t.attacl) as x
        where t.attrelid = c.oid
      ) as a
      where a.grantee <> c.relowner
    ) as w
    where c.relnamespace in (
      select n.oid from pg_catalog.pg_namespace as n where n.nspname = any(v_schemas))
      and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    union all
    select pg_catalog.format(
      'revoke all on routine %s from %s cascade', p.oid::pg_catalog.regprocedure, w.grantee)
    from pg_catalog.pg_proc as p
    inner join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    cross join lateral (
      select distinct case a.grantee when 0 then 'public'
        else a.grantee::pg_catalog.regrole::text end as grantee
      from pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) as a
      where a.grantee <> p.proowner
    ) as w
    where n.nspname = any(v_schemas)
      or (
        n.nspname = 'public'
        and p.proname in (select s.object_name from lf_sql.sources as s where s.kind = 'function'
          and s.schema_name = 'public')
      )
  );
  foreach v_command in array v_commands loop
    execute v_command;
  end loop;
end;
$$;

-- lf_sql_owner: calls what the engine owns.

grant execute on all routines in schema agents, automation, lensers, lenses to lf_sql_owner;

-- lf_sql_engine: sees and changes the rows of every tenant, and calls what the owner owns.

grant usage on schema agents, automation, lensers, lenses, lf_sql to lf_sql_engine;

grant select on all tables in schema lf_sql to lf_sql_engine;

grant select, insert, update, delete on all tables in schema
  agents, automation, lensers, lenses
to lf_sql_engine;

grant usage on all sequences in schema agents, automation, lensers, lenses to lf_sql_engine;

grant execute on all routines in schema agents, automation, lensers, lenses to lf_sql_engine;

-- service_role: executors, drivers and operators. It reads every table. It inserts and updates all
-- but the audit, so that policies and guards answer it; it deletes and truncates nothing. It can
-- call no function that sets a tick's time, and none that decides about an approval.

grant usage on schema agents, automation, lensers, lenses, lf_sql to service_role;

grant select on
  agents.action_logs,
  agents.agent_run_events,
  agents.approval_attempts,
  agents.automation_feed,
  lenses.cell_health,
  lenses.cell_runs,
  lenses.cell_schedules,
  lenses.cell_tenants,
  lenses.deliveries,
  lenses.delivery_requests,
  lenses.departed_rows,
  lenses.lenser_usage,
  lenses.outbox,
  lenses.run_counts,
  lenses.run_retries,
  lenses.schedule_slots,
  lenses.workflow_run_events,
  lf_sql.expected_objects,
  lf_sql.installs,
  lf_sql.migrations,
  lf_sql.sources
to service_role;

grant select, insert, update on
  agents.ai_lensers,
  agents.gateway_cron_runs,
  agents.gateway_crons,
  agents.gateways,
  agents.policies,
  agents.team_members,
  agents.team_runs,
  agents.teams,
  agents.workflow_assignments,
  lensers.profiles,
  lenses.dispatch_settings,
  lenses.dispatch_ticks,
  lenses.dispatch_totals,
  lenses.schedule_calendars,
  lenses.schedule_due,
  lenses.timezones,
  lenses.worker_heartbeats,
  lenses.workflow_runs,
  lenses.workflow_schedules,
  lenses.workflow_versions,
  lenses.workflows
to service_role;

grant execute on procedure lenses.sp_dispatch_tick(integer) to service_role;

grant execute on function
  agents.fn_claim_gateway_cron_runs(text, integer, interval, uuid),
  agents.fn_complete_gateway_cron_run(uuid, text, jsonb),
  agents.fn_fail_gateway_cron_run(uuid, text, text),
  agents.fn_heartbeat_gateway_cron_run(uuid, text, interval),
  agents.fn_recompute_gateway_cron(uuid),
  lensers.get_auth_lenser_id(),
  lenses.fn_ack_events(text, bigint[]),
  lenses.fn_append_run_event(uuid, text, text, jsonb, integer),
  lenses.fn_book_run_credits(uuid, text, integer, numeric),
  lenses.fn_calendar_dates(uuid, date, date, integer),
  lenses.fn_cancel_workflow_run(uuid),
  lenses.fn_cancel_workflow_runs(uuid[]),
  lenses.fn_claim_events(text, text, integer, interval),
  lenses.fn_claim_workflow_runs(text, integer, interval, uuid[]),
  lenses.fn_complete_workflow_run(uuid, text, jsonb, numeric, integer),
  lenses.fn_complete_workflow_runs(text, jsonb),
  lenses.fn_delete_delivery(text),
  lenses.fn_deliver(),
  lenses.fn_demands_approval(jsonb, uuid),
  lenses.fn_explain_schedule(uuid, timestamptz),
  lenses.fn_fail_event(bigint, text, text, interval),
  lenses.fn_fail_workflow_run(uuid, text, text, text, numeric, integer, interval, boolean),
  lenses.fn_freeze_dispatch(text),
  lenses.fn_get_deliveries(),
  lenses.fn_health(jsonb, boolean),
  lenses.fn_heartbeat_workflow_run(uuid, text, interval, integer),
  lenses.fn_heartbeat_workflow_runs(text, uuid[], interval),
  lenses.fn_lanes(),
  lenses.fn_lint_schedule(uuid, uuid),
  lenses.fn_metrics(),
  lenses.fn_misplaced_schedules(uuid),
  lenses.fn_next_wake(integer),
  lenses.fn_preview_schedule_ticks(uuid, integer, interval),
  lenses.fn_reap_workflow_runs(),
  lenses.fn_recompute_schedule(uuid),
  lenses.fn_recount(boolean),
  lenses.fn_remove_worker(text),
  lenses.fn_retry_dead_events(text),
  lenses.fn_retry_workflow_run(uuid),
  lenses.fn_run_traceparent(uuid, integer),
  lenses.fn_schedule_label(text, text, text),
  lenses.fn_set_delivery(jsonb),
  lenses.fn_set_delivery_secret(text, text),
  lenses.fn_set_dispatch_settings(jsonb),
  lenses.fn_slot_key(uuid, timestamptz),
  lenses.fn_test_delivery(text, bigint, boolean),
  lenses.fn_tick_begin(text, integer, integer, bigint),
  lenses.fn_tick_end(bigint, text),
  lenses.fn_tick_step(bigint),
  lenses.fn_unfreeze_dispatch(),
  lenses.fn_worker_goodbye(text),
  lenses.fn_worker_heartbeat(text, text, integer, boolean, text, integer),
  public.fn_ack_events(text, bigint[]),
  public.fn_append_run_event(uuid, text, text, jsonb, integer),
  public.fn_book_run_credits(uuid, text, integer, numeric),
  public.fn_cancel_workflow_run(uuid),
  public.fn_cancel_workflow_runs(uuid[]),
  public.fn_claim_events(text, text, integer, interval),
  public.fn_claim_gateway_cron_runs(text, integer, interval, uuid),
  public.fn_claim_workflow_runs(text, integer, interval, uuid[]),
  public.fn_complete_gateway_cron_run(uuid, text, jsonb),
  public.fn_complete_workflow_run(uuid, text, jsonb, numeric, integer),
  public.fn_complete_workflow_runs(text, jsonb),
  public.fn_cron_build(jsonb),
  public.fn_cron_describe(text),
  public.fn_cron_preview(text, text, integer),
  public.fn_delete_delivery(text),
  public.fn_deliver(),
  public.fn_dispatch_tick(),
  public.fn_explain_schedule(uuid, timestamptz),
  public.fn_fail_event(bigint, text, text, interval),
  public.fn_fail_gateway_cron_run(uuid, text, text),
  public.fn_fail_workflow_run(uuid, text, text, text, numeric, integer, interval, boolean),
  public.fn_freeze_dispatch(text),
  public.fn_get_deliveries(),
  public.fn_heartbeat_gateway_cron_run(uuid, text, interval),
  public.fn_heartbeat_workflow_run(uuid, text, interval, integer),
  public.fn_heartbeat_workflow_runs(text, uuid[], interval),
  public.fn_lint_schedule(uuid),
  public.fn_preview_days(date, integer, uuid),
  public.fn_preview_schedule_ticks(uuid, integer, interval),
  public.fn_reap_workflow_runs(),
  public.fn_retry_dead_events(text),
  public.fn_retry_workflow_run(uuid),
  public.fn_run_traceparent(uuid, integer),
  public.fn_schedule_load(text),
  public.fn_set_delivery(jsonb),
  public.fn_set_delivery_secret(text, text),
  public.fn_set_dispatch_settings(jsonb),
  public.fn_test_delivery(text, bigint, boolean),
  public.fn_unfreeze_dispatch()
to service_role;

-- authenticated: a tenant. Row security shows a tenant its own rows; only the RPCs change them.

grant usage on schema agents, lensers, lenses to authenticated;

grant select on
  agents.action_logs,
  agents.agent_run_events,
  agents.ai_lensers,
  agents.approval_attempts,
  agents.automation_feed,
  agents.gateway_cron_runs,
  agents.gateway_crons,
  agents.gateways,
  agents.policies,
  agents.team_members,
  agents.team_runs,
  agents.teams,
  agents.workflow_assignments,
  lensers.profiles,
  lenses.lenser_usage,
  lenses.schedule_calendars,
  lenses.schedule_slots,
  lenses.workflow_run_events,
  lenses.workflow_runs,
  lenses.workflow_schedules,
  lenses.workflow_versions,
  lenses.workflows
to authenticated;

grant execute on function
  lensers.get_auth_lenser_id(),
  lenses.fn_schedule_label(text, text, text),
  lenses.fn_slot_key(uuid, timestamptz),
  public.fn_backfill_schedule(uuid, timestamptz, boolean, timestamptz),
  public.fn_cancel_workflow_run(uuid),
  public.fn_cancel_workflow_runs(uuid[]),
  public.fn_create_schedule_calendar(text, text, text, date[], uuid, jsonb),
  public.fn_cron_build(jsonb),
  public.fn_cron_describe(text),
  public.fn_cron_preview(text, text, integer),
  public.fn_decide_workflow_run(uuid, text, text),
  public.fn_decide_workflow_runs(uuid[], text, text),
  public.fn_delete_gateway(uuid),
  public.fn_delete_schedule_calendar(uuid),
  public.fn_delete_workflow_schedule(uuid),
  public.fn_explain_schedule(uuid, timestamptz),
  public.fn_gateway_cron_add(uuid, text, text, text, jsonb, boolean),
  public.fn_gateway_cron_list(uuid),
  public.fn_gateway_cron_remove(uuid),
  public.fn_gateway_cron_run(uuid, jsonb),
  public.fn_gateway_cron_update(uuid, text, text, text, jsonb, boolean),
  public.fn_get_automation_feed(integer),
  public.fn_get_calendar_dates(uuid, date, date),
  public.fn_get_gateway_cron_runs(uuid, integer),
  public.fn_get_gateways(),
  public.fn_get_run(uuid),
  public.fn_get_runs(jsonb, integer, timestamptz),
  public.fn_get_schedule_calendars(),
  public.fn_get_schedule_run_history(uuid, integer),
  public.fn_get_slots(uuid[], timestamptz, timestamptz, integer),
  public.fn_get_workflow_schedule(uuid),
  public.fn_get_workflows(),
  public.fn_lint_schedule(uuid),
  public.fn_observe_schedules(),
  public.fn_patch_workflow_schedule(uuid, jsonb),
  public.fn_pause_workflow_schedule(uuid, text, timestamptz),
  public.fn_preview_days(date, integer, uuid),
  public.fn_preview_schedule_ticks(uuid, integer, interval),
  public.fn_recompute_schedule(uuid),
  public.fn_resume_workflow_schedule(uuid, text, text),
  public.fn_retry_workflow_run(uuid),
  public.fn_run_workflow_schedule_now(uuid, jsonb),
  public.fn_schedule_health(),
  public.fn_schedule_load(text),
  public.fn_schedules_due_between(timestamptz, timestamptz, integer),
  public.fn_set_project(text, uuid[], uuid[], uuid[]),
  public.fn_set_schedule_calendar(uuid, uuid),
  public.fn_set_schedule_condition(uuid, jsonb),
  public.fn_set_schedule_inputs_rotation(uuid, jsonb),
  public.fn_set_workflow_status(uuid, text),
  public.fn_test_schedule_condition(uuid, jsonb, uuid),
  public.fn_update_schedule_calendar(uuid, text, text, text, date[], jsonb),
  public.fn_upsert_gateway(uuid, text, text),
  public.fn_upsert_workflow(uuid, text, jsonb, text, text),
  public.fn_upsert_workflow_schedule(
    uuid, uuid, text, text, text, jsonb, boolean, text, uuid, uuid, jsonb, jsonb, jsonb, jsonb,
    text, text, bigint, timestamptz, timestamptz, integer, uuid, jsonb, jsonb, integer, text,
    timestamptz, text
  ),
  public.fn_workflow_get_schedules(uuid)
to authenticated;
