-- For the owner. It does one index look-up for each status and trigger that is asked for, newest
-- first and no further than the page goes, so that the few failed runs among a million cost only as
-- much as the page. Each look-up is planned for its own filter, because only then partial indexes
-- serve.
create or replace function public.fn_get_runs(
  p_filter jsonb default '{}',
  p_limit integer default 50,
  p_before timestamptz default null
)
returns table (
  id uuid,
  workflow_id uuid,
  workflow_version integer,
  workflow text,
  schedule_id uuid,
  schedule text,
  scheduled_for timestamptz,
  trigger_mode text,
  triggered_by text,
  status text,
  approval_status text,
  priority integer,
  attempt integer,
  available_at timestamptz,
  created_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  spent_credits numeric,
  cause text,
  error text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_filter constant jsonb := lenses.fn_check_run_filter(p_filter);
  v_schedule_id uuid := v_filter ->> 'schedule';
  v_workflow_id uuid := v_filter ->> 'workflow';
  v_since timestamptz := lenses.fn_instant_of(v_filter ->> 'since', 'p_filter.since');
  v_until timestamptz := lenses.fn_instant_of(v_filter ->> 'until', 'p_filter.until');
  v_limit integer := least(coalesce(p_limit, 50), 500);
  v_last lenses.workflow_runs;
  v_status text;
  v_trigger text;
  v_ids uuid[] := '{}';
begin
  if p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must not be negative, but is %s', p_limit),
      hint = 'Give 1 to 500.';
  end if;
  perform lenses.fn_check_instant(v_since, 'p_filter.since');
  perform lenses.fn_check_instant(v_until, 'p_filter.until');
  perform lenses.fn_check_instant(p_before, 'p_before');
  if v_schedule_id is not null then
    perform lenses.fn_require_schedule(v_schedule_id);
  end if;
  if v_workflow_id is not null then
    perform lenses.fn_require_workflow(v_workflow_id);
  end if;
  if v_filter ? 'before_run' then
    v_last := lenses.fn_require_run((v_filter ->> 'before_run')::uuid);
  end if;

  for v_status, v_trigger in
    select s.word, t.word
    from (select) as one
    left join jsonb_array_elements_text(v_filter -> 'status') as s (word) on true
    left join jsonb_array_elements_text(v_filter -> 'trigger') as t (word) on true
  loop
    v_ids := v_ids || array(
      select r.id
      from lenses.workflow_runs as r
      where r.lenser_id = v_lenser_id
        and (v_status is null or r.status = v_status)
        and (v_trigger is null or r.trigger_mode = v_trigger)
        and (v_schedule_id is null or r.schedule_id = v_schedule_id)
        and (v_workflow_id is null or r.workflow_id = v_workflow_id)
        and (v_since is null or r.created_at >= v_since)
        and (v_until is null or r.created_at <= v_until)
        and (p_before is null or r.created_at < p_before)
        and (v_last.id is null or (r.created_at, r.id) < (v_last.created_at, v_last.id))
      order by r.created_at desc, r.id desc
      limit v_limit);
  end loop;

  return query
  select
    r.id, r.workflow_id, r.workflow_version, w.title, r.schedule_id,
    coalesce(s.name, s.description), r.scheduled_for, r.trigger_mode, r.triggered_by, r.status,
    coalesce(t.approval_status, 'not_required'), r.priority, r.attempt, r.available_at,
    r.created_at, r.started_at, r.completed_at, r.spent_credits,
    coalesce(r.metadata #>> '{result,cause}', r.metadata #>> '{last_failure,cause}'),
    left(coalesce(r.metadata #>> '{result,error}', r.metadata #>> '{last_failure,error}'), 2000)
  from (
    select x.*
    from lenses.workflow_runs as x
    where x.id = any (v_ids)
    order by x.created_at desc, x.id desc
    limit v_limit
  ) as r
  left join lenses.workflows as w on w.id = r.workflow_id
  left join lenses.workflow_schedules as s on s.id = r.schedule_id
  left join agents.team_runs as t on t.workflow_run_id = r.id and t.lenser_id = r.lenser_id
  order by r.created_at desc, r.id desc;
end;
$$;

comment on function public.fn_get_runs(jsonb, integer, timestamptz) is
  'The caller''s runs, newest first, at most p_limit (50; 500 at most). p_filter holds what is '
  'asked for, all of it must be true: "status" and "trigger" (one word or an array of them), '
  '"schedule" and "workflow" (ids), "since" and "until" (instants of created_at, both included), '
  '"before_run" (an id: what comes after that run in this list; the id of a page''s last row '
  'gives the next page). p_before: only what was created before that instant. schedule is its '
  'name, else its description; cause and error are of the newest attempt that failed, error cut '
  'to 2000 characters. 22023: an unknown key or word (the message names the nearest), a bad '
  'value; 42501: a schedule, workflow or run that is not the caller''s, or unknown.';
