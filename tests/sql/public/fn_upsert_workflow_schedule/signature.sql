-- Names, order and defaults are other people's code.
begin;
select plan(4);

select is(
  pg_get_function_arguments(to_regproc('public.fn_upsert_workflow_schedule')),
  'p_workflow_id uuid, p_schedule_id uuid DEFAULT NULL::uuid, p_cron_expr text DEFAULT ''* * * * *''::text, '
  'p_timezone text DEFAULT ''UTC''::text, p_global_model_id text DEFAULT NULL::text, '
  'p_inputs_template jsonb DEFAULT ''{}''::jsonb, p_is_active boolean DEFAULT true, '
  'p_assignee_type text DEFAULT ''agent''::text, p_assignee_id uuid DEFAULT NULL::uuid, '
  'p_workflow_assignment_id uuid DEFAULT NULL::uuid, '
  'p_approval_policy jsonb DEFAULT ''{"requiresApproval": true}''::jsonb, '
  'p_retry_policy jsonb DEFAULT ''{"maxRetries": 1}''::jsonb, '
  'p_failure_policy jsonb DEFAULT ''{"mode": "isolate"}''::jsonb, '
  'p_queue_policy jsonb DEFAULT ''{"mode": "parallel"}''::jsonb, p_description text DEFAULT NULL::text, '
  'p_schedule_type text DEFAULT NULL::text, p_interval_ms bigint DEFAULT NULL::bigint, '
  'p_start_at timestamp with time zone DEFAULT NULL::timestamp with time zone, '
  'p_end_at timestamp with time zone DEFAULT NULL::timestamp with time zone, '
  'p_jitter_ms integer DEFAULT NULL::integer, p_calendar_id uuid DEFAULT NULL::uuid, '
  'p_pre_dispatch_condition jsonb DEFAULT NULL::jsonb, p_inputs_rotation jsonb DEFAULT NULL::jsonb, '
  'p_workflow_version integer DEFAULT NULL::integer, p_name text DEFAULT NULL::text, '
  'p_run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, '
  'p_on_holiday text DEFAULT NULL::text',
  'parameters'
);
select function_returns('public', 'fn_upsert_workflow_schedule', 'lenses.workflow_schedules', 'returns the row');
select is_definer('public', 'fn_upsert_workflow_schedule', 'definer');
select is(
  (select count(*) from pg_proc where proname = 'fn_upsert_workflow_schedule'), 1::bigint, 'one signature'
);

select * from finish();
rollback;
