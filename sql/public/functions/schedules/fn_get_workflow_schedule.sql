-- For the owner: a schedule as people look at it, without the dispatcher's own bookkeeping.
create or replace function public.fn_get_workflow_schedule(p_schedule_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_internal constant text[] := array[
    'cron_spec', 'max_in_flight', 'on_overlap', 'on_missed', 'max_backfill', 'spread_window_ms',
    'is_sequential', 'dispatch_seq', 'failure_count', 'tick_id', 'tick_slots', 'seen_until',
    'missed_before', 'missed_override', 'missed', 'dropped', 'spread_next_at', 'spread_step',
    'explicit_defaults'
  ];
  v_row constant lenses.workflow_schedules := lenses.fn_require_schedule(p_schedule_id);
  v_english constant text := lenses.fn_schedule_describe(
    v_row.cron_expr, v_row.interval_ms, v_row.run_at);
begin
  return (to_jsonb(v_row) - c_internal) || jsonb_build_object(
    'description', coalesce(v_row.description, v_english),
    'english', v_english,
    'status', lenses.fn_schedule_status(
      v_row.is_active, v_row.paused_at,
      lenses.fn_is_finished(v_row.schedule_type, v_row.next_run_at, v_row.end_at)),
    'workflow_title', (
      select w.title from lenses.workflows as w
      where w.id = v_row.workflow_id and w.lenser_id = v_row.lenser_id
    ),
    'calendar_name', (
      select c.name from lenses.schedule_calendars as c where c.id = v_row.calendar_id
    ),
    'effective_policies', lenses.fn_effective_policies(v_row),
    'next_slots', case
      when v_row.next_run_at is null then '[]'
      else (
        select coalesce(jsonb_agg(n.slot order by n.slot), '[]')
        from (
          -- The next one may be no slot of the rule.
          select v_row.next_run_at where v_row.next_run_at > now()
          union all
          select lenses.fn_next_slots(
            p_schedule_id, greatest(v_row.next_run_at, now()), 'infinity', 5)
          order by 1
          limit 5
        ) as n (slot)
      )
    end,
    'last_runs', (
      select coalesce(jsonb_agg(to_jsonb(h) - 'n' order by h.n), '[]')
      from (
        select r.*, row_number() over () as n
        from public.fn_get_schedule_run_history(p_schedule_id, 5) as r
      ) as h
    )
  );
end;
$$;

comment on function public.fn_get_workflow_schedule(uuid) is
  'The caller''s schedule as an object: its columns, and description (its own, or else the '
  'English of its times), english, status (enabled, finished, paused, disabled), '
  'workflow_title, calendar_name, effective_policies (what holds with the assignment''s and the '
  'server''s defaults, and what its runs carry), next_slots (the next 5 slots, whether paused or '
  'not) and last_runs (the newest 5, as fn_get_schedule_run_history gives them). 42501: not the '
  'caller''s.';
