-- For the owner.
create or replace function public.fn_get_schedule_run_history(
  p_schedule_id uuid,
  p_limit integer default 10
)
returns table (
  run_id uuid,
  scheduled_for timestamptz,
  trigger_mode text,
  status text,
  attempt integer,
  spent_credits numeric,
  approval_status text,
  started_at timestamptz,
  completed_at timestamptz,
  result jsonb
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule constant lenses.workflow_schedules := lenses.fn_require_schedule(p_schedule_id);
begin
  if p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must not be negative, but is %s', p_limit),
      hint = 'Give 1 to 500.';
  end if;
  return query
  select
    r.id, r.scheduled_for, r.trigger_mode, r.status, r.attempt, r.spent_credits,
    coalesce(t.approval_status, 'not_required'), r.started_at, r.completed_at,
    r.metadata -> 'result'
  from lenses.workflow_runs as r
  left join agents.team_runs as t
    on t.workflow_run_id = r.id and t.lenser_id = r.lenser_id
  where r.schedule_id = v_schedule.id and r.lenser_id = v_schedule.lenser_id
  order by r.created_at desc, r.scheduled_for desc nulls first, r.id
  limit least(coalesce(p_limit, 10), 500);
end;
$$;

comment on function public.fn_get_schedule_run_history(uuid, integer) is
  'The newest p_limit (500 at most) runs of the caller''s schedule, whatever started them, newest '
  'first. result: metadata.result. 22023: a negative p_limit; 42501: not the caller''s, or '
  'unknown.';
