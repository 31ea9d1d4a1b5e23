-- owner: lf_sql_engine
-- For executors (service_role). It reaps expired leases first, so that a run of a dead worker need
-- not wait for a tick. It numbers and writes all events in one go, which the table's triggers see
-- and let pass. The columns are those of lenses.workflow_runs, in order, then the definition.
create or replace function lenses.fn_claim_workflow_runs(
  p_worker_id text,
  p_limit integer default 1,
  p_lease interval default '5 minutes',
  p_workflow_ids uuid[] default null
)
returns table (
  id uuid,
  lenser_id uuid,
  workflow_id uuid,
  workflow_version integer,
  schedule_id uuid,
  scheduled_for timestamptz,
  idempotency_key text,
  trigger_mode text,
  triggered_by text,
  status text,
  priority integer,
  available_at timestamptz,
  context_inputs jsonb,
  policies jsonb,
  global_model_id text,
  ai_lenser_id uuid,
  team_id uuid,
  needs_approval boolean,
  approval_expires_at timestamptz,
  attempt integer,
  worker_id text,
  lease_expires_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  spent_credits numeric,
  last_event_seq integer,
  metadata jsonb,
  created_at timestamptz,
  definition jsonb
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_limit constant integer := least(coalesce(p_limit, 1), 500);
  v_workflow_ids uuid[];
  v_ids uuid[];
  v_is_lost boolean;
  v_is_guess boolean;
begin
  if (p_worker_id ~ '[^[:space:]]' and char_length(p_worker_id) <= 200) is not true
    or (p_lease > interval '0' and p_lease <= interval '1 day'
      and now() + p_lease > now() and now() + p_lease <= now() + interval '1 day') is false
  then
    perform lenses.fn_check_claimant(p_worker_id, p_lease);
  end if;
  if p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must not be negative, but is %s', p_limit),
      hint = 'Claim as many runs as you can work on at once.';
  end if;
  if cardinality(p_workflow_ids) > 1000 then
    raise exception using
      errcode = '22023',
      column = 'workflow_ids',
      message = format('p_workflow_ids has %s ids, more than 1000', cardinality(p_workflow_ids)),
      hint = 'NULL claims the runs of all workflows.';
  end if;
  if p_workflow_ids is not null then
    v_workflow_ids := array(select distinct w.id from unnest(p_workflow_ids) as w (id));
  end if;
  if not lenses.fn_admit_work() then
    return;
  end if;
  -- Most runs belong to schedules without a limit. So this locks the first free runs in the order
  -- of the queue, up to the first run of a schedule with a limit; the update checks them again.
  -- lenses.fn_pick_runs goes row by row where these are too few, where workflows are named, or
  -- where a run's available_at has come, so that two queues must be merged.
  for v_look in 1 .. 2 loop
    select
      l.is_lost,
      case when p_workflow_ids is null and not l.is_due and not (l.is_lost and v_look = 1)
      then array(
        select r.id
        from (
          select
            q.id, q.priority, q.created_at, q.scheduled_for,
            count(*) filter (where s.max_in_flight is not null) over (
              order by q.priority desc, q.created_at, q.scheduled_for, q.id rows unbounded preceding
            ) as limited
          from lenses.workflow_runs as q
          left join lenses.workflow_schedules as s on s.id = q.schedule_id
          where q.status = 'pending' and q.available_at is null
        ) as h
        inner join lenses.workflow_runs as r on r.id = h.id and r.status || '' = 'pending'
        where h.limited < 1
        order by h.priority desc, h.created_at, h.scheduled_for, h.id
        limit v_limit
        for no key update of r skip locked) end
    into v_is_lost, v_ids
    from (
      select exists (
        select from lenses.workflow_runs as r
        where r.status = 'running' and r.lease_expires_at <= now()
      ) as is_lost,
      exists (
        select from lenses.workflow_runs as r
        where r.status = 'pending' and r.available_at <= now()
      ) as is_due
      offset 0
    ) as l;
    exit when not v_is_lost or v_look = 2;
    perform lenses.fn_reap_runs(now());
  end loop;
  v_is_guess := coalesce(cardinality(v_ids), 0) = v_limit and v_limit > 0;
  for v_try in 1 .. 2 loop
    if not v_is_guess then
      v_ids := lenses.fn_pick_runs(v_limit, v_workflow_ids);
    end if;
    return query
    with taken as (
      update lenses.workflow_runs as r
      set status = 'running', worker_id = p_worker_id, attempt = r.attempt + 1,
        started_at = now(), lease_expires_at = now() + coalesce(p_lease, interval '5 minutes'),
        last_event_seq = r.last_event_seq + 1
      from unnest(v_ids) with ordinality as p (id, place)
      where r.id = p.id
        and (not v_is_guess or (
          r.status || '' = 'pending'
          and (r.available_at is null or r.available_at <= now())
          and (not r.needs_approval or exists (
            select from agents.team_runs as t
            where t.workflow_run_id = r.id and t.approval_status = 'approved'))
          and not exists (
            select from lenses.workflow_schedules as s
            where s.id = r.schedule_id and s.max_in_flight is not null)))
      returning r as run, p.place
    ),

    recorded as (
      insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
      select
        (t.run).lenser_id, (t.run).id, (t.run).last_event_seq, 'run.started', jsonb_build_object(
          'from', 'pending', 'status', (t.run).status, 'attempt', (t.run).attempt,
          'worker_id', p_worker_id)
      from taken as t
      returning run_id, event_type, payload
    ),

    told_to_teams as (
      insert into agents.agent_run_events (lenser_id, team_run_id, run_id, event_type, payload)
      select t.lenser_id, t.id, e.run_id, e.event_type, e.payload
      from recorded as e
      inner join agents.team_runs as t on t.workflow_run_id = e.run_id
    )

    select (t.run).*, (
      select v.definition
      from lenses.workflow_versions as v
      where v.workflow_id = (t.run).workflow_id and v.version = (t.run).workflow_version)
    from taken as t
    order by t.place;
    exit when found or not v_is_guess;
    v_is_guess := false;
  end loop;
end;
$$;

comment on function lenses.fn_claim_workflow_runs(text, integer, interval, uuid[]) is
  'Takes up to p_limit (500 at most) pending runs that are available, by priority, then age, and '
  'gives them to p_worker_id as running for p_lease (a day at most): the columns of '
  'lenses.workflow_runs, then the workflow''s definition. p_workflow_ids (1,000 at most): runs '
  'of these workflows only, as fast as with few others waiting; NULL: of all. No claim goes '
  'beyond a schedule''s limit. The run belongs to the worker until the lease ends: heartbeat, '
  'complete or fail before. Commit before the work begins: until then other transactions wait '
  'for these rows or skip them. LISTEN lf_workflow_runs instead of polling. 22023: a bad worker '
  'id, limit, lease or list of workflows.';
