-- owner: lf_sql_engine
-- Locks up to p_limit pending runs for a delivery, by priority, then age: runs of its workflow, or
-- of all workflows that have no delivery of their own. The rules are those of lenses.fn_pick_runs:
-- no schedule goes over its limit, and no run of such a schedule goes before one that is locked. It
-- looks at the first thousand that may start, and passes over runs that are locked.
create or replace function lenses.fn_pick_delivery_runs(
  p_workflow_id uuid,
  p_now timestamptz,
  p_limit integer
)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_others uuid[];
  v_run record;
  v_known uuid[] := array[]::uuid[];
  v_left integer[] := array[]::integer[];
  v_at integer;
  v_picked uuid[] := array[]::uuid[];
begin
  v_others := array(
    select d.workflow_id from lenses.deliveries as d
    where d.is_active and d.workflow_id is not null and 'runs' = any (d.sends));
  for v_run in
    select c.id, c.schedule_id, c.max_in_flight
    from (
      (
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from lenses.workflow_runs as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where r.workflow_id between p_workflow_id and p_workflow_id
          and r.status = 'pending' and r.available_at is null
          and (s.max_in_flight is null or s.max_in_flight > (
            select count(*) from lenses.workflow_runs as x
            where x.schedule_id = s.id and x.status = 'running'))
        order by r.workflow_id, r.priority desc, r.created_at, r.scheduled_for, r.id
        limit 1000
      )
      union all
      (
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from lenses.workflow_runs as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where r.workflow_id between p_workflow_id and p_workflow_id
          and r.status = 'pending' and r.available_at <= p_now
          and (s.max_in_flight is null or s.max_in_flight > (
            select count(*) from lenses.workflow_runs as x
            where x.schedule_id = s.id and x.status = 'running'))
        order by r.workflow_id, r.available_at
        limit 1000
      )
      union all
      (
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from lenses.workflow_runs as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where p_workflow_id is null and r.workflow_id <> all (v_others)
          and r.status = 'pending' and r.available_at is null
          and (s.max_in_flight is null or s.max_in_flight > (
            select count(*) from lenses.workflow_runs as x
            where x.schedule_id = s.id and x.status = 'running'))
        order by r.priority desc, r.created_at, r.scheduled_for, r.id
        limit 1000
      )
      union all
      (
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from lenses.workflow_runs as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where p_workflow_id is null and r.workflow_id <> all (v_others)
          and r.status = 'pending' and r.available_at <= p_now
          and (s.max_in_flight is null or s.max_in_flight > (
            select count(*) from lenses.workflow_runs as x
            where x.schedule_id = s.id and x.status = 'running'))
        order by r.available_at
        limit 1000
      )
    ) as c
    order by c.priority desc, c.created_at, c.scheduled_for, c.id
  loop
    exit when cardinality(v_picked) >= p_limit;
    v_at := null;
    if v_run.max_in_flight is not null then
      v_at := array_position(v_known, v_run.schedule_id);
      if v_at is null then
        v_known := v_known || v_run.schedule_id;
        v_at := cardinality(v_known);
        v_left[v_at] := lenses.fn_claimable_runs(v_run.schedule_id);
      end if;
      continue when v_left[v_at] <= 0;
    end if;
    perform from lenses.workflow_runs as r
    where r.id = v_run.id and r.status || '' = 'pending'
      and (r.available_at is null or r.available_at <= p_now)
      and (not r.needs_approval or exists (
        select from agents.team_runs as t
        where t.workflow_run_id = r.id and t.approval_status = 'approved'))
    for no key update skip locked;
    if found then
      v_picked := v_picked || v_run.id;
      if v_at is not null then
        v_left[v_at] := v_left[v_at] - 1;
      end if;
    elsif v_at is not null then
      v_left[v_at] := 0;
    end if;
  end loop;

  -- Checked after all runs are locked. A new limit waits for these locks, so every run of a
  -- schedule with a limit has been counted.
  return array(
    select r.id
    from unnest(v_picked) with ordinality as p (id, place)
    inner join lenses.workflow_runs as r on r.id = p.id
    left join lenses.workflow_schedules as s on s.id = r.schedule_id
    where s.max_in_flight is null or r.schedule_id = any (v_known)
    order by p.place);
end;
$$;
