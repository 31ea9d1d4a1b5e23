-- owner: lf_sql_engine
-- Locks up to p_limit pending runs, by priority, then age, then slot, and returns their ids; runs
-- that another transaction has locked are skipped. It merges two queues: runs that may start at
-- once, and at most a thousand runs whose available_at has come, the earliest first (the tick moves
-- the rest over). Runs that still wait are in neither queue and cost nothing. For a schedule with a
-- limit it first takes the row in lenses.schedule_due (and writes it, so that a stale snapshot is a
-- serialization failure), then counts the running runs. So two claims cannot pass the limit
-- together. The runs of such a schedule start in order: none starts before an earlier one that
-- another transaction holds. A cursor reads row by row, because each lock decides about the next
-- row and no more of the queue is read than the claim needs. Locking a row checks its conditions
-- again; limits are checked again after all rows are locked. Where workflows are named
-- (p_workflow_ids), each has queues of its own, read as deep as lenses.fn_queue_depths says: first
-- for p_limit and a few more, then for a thousand more, as long as that finds more full schedules.
-- "between" and the order force the index of one workflow's queue. The planner settings force the
-- indexes too, because the statistics of a queue are always out of date.
create or replace function lenses.fn_pick_runs(p_limit integer, p_workflow_ids uuid[] default null)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_known uuid[] := array[]::uuid[];
  v_left integer[] := array[]::integer[];
  v_full uuid[] := array[]::uuid[];
  v_before uuid[];
  c_queue refcursor;
  c_due refcursor;
  c_tries constant integer := 16;
  c_rounds constant integer := case when p_workflow_ids is null then 2 else 20 end;
  v_depths integer[];
  v_picked uuid[] := array[]::uuid[];
  v_at integer;
  v_blocked integer;
  v_next record;
  v_queued record;
  v_due record;
  v_has_queued boolean;
  v_has_due boolean;
begin
  for v_round in 1 .. c_rounds loop
    v_blocked := 0;
    v_has_queued := null;
    if p_workflow_ids is null then
      open c_queue for
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from lenses.workflow_runs as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where r.status = 'pending' and r.available_at is null
          and (not r.needs_approval or exists (
            select from agents.team_runs as t
            where t.workflow_run_id = r.id and t.approval_status = 'approved'))
          and (r.schedule_id is null
            or r.schedule_id not in (select f.id from unnest(v_full) as f (id)))
        order by r.priority desc, r.created_at, r.scheduled_for, r.id;
      open c_due for
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from (
          select q.id, q.schedule_id, q.priority, q.created_at, q.scheduled_for, q.needs_approval
          from lenses.workflow_runs as q
          where q.status = 'pending' and q.available_at <= now()
          order by q.available_at
          limit 1000
        ) as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where (not r.needs_approval or exists (
          select from agents.team_runs as t
          where t.workflow_run_id = r.id and t.approval_status = 'approved'))
          and (r.schedule_id is null
            or r.schedule_id not in (select f.id from unnest(v_full) as f (id)))
        order by r.priority desc, r.created_at, r.scheduled_for, r.id;
    else
      v_depths := lenses.fn_queue_depths(
        p_workflow_ids, p_limit + case v_round when 1 then c_tries else 1000 end, v_full);
      open c_queue for
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from unnest(p_workflow_ids, v_depths) as w (id, depth)
        cross join lateral (
          select q.*
          from lenses.workflow_runs as q
          where q.workflow_id between w.id and w.id
            and q.status = 'pending' and q.available_at is null
            and (not q.needs_approval or exists (
              select from agents.team_runs as t
              where t.workflow_run_id = q.id and t.approval_status = 'approved'))
            and (q.schedule_id is null
              or q.schedule_id not in (select f.id from unnest(v_full) as f (id)))
          order by q.workflow_id, q.priority desc, q.created_at, q.scheduled_for, q.id
          limit w.depth
        ) as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        order by r.priority desc, r.created_at, r.scheduled_for, r.id;
      open c_due for
        select r.id, r.schedule_id, s.max_in_flight, r.priority, r.created_at, r.scheduled_for
        from unnest(p_workflow_ids) as w (id)
        cross join lateral (
          select q.*
          from lenses.workflow_runs as q
          where q.workflow_id between w.id and w.id
            and q.status = 'pending' and q.available_at <= now()
          order by q.workflow_id, q.available_at
          limit 1000
        ) as r
        left join lenses.workflow_schedules as s on s.id = r.schedule_id
        where (not r.needs_approval or exists (
          select from agents.team_runs as t
          where t.workflow_run_id = r.id and t.approval_status = 'approved'))
          and (r.schedule_id is null
            or r.schedule_id not in (select f.id from unnest(v_full) as f (id)))
        order by r.priority desc, r.created_at, r.scheduled_for, r.id
        limit 1000;
    end if;
    fetch c_due into v_due;
    v_has_due := found;
    while cardinality(v_picked) < p_limit loop
      if v_has_queued is null then
        fetch c_queue into v_queued;
        v_has_queued := found;
      end if;
      exit when not v_has_queued and not v_has_due;
      if v_has_due and (not v_has_queued or (
        v_queued.priority, v_due.created_at, coalesce(v_due.scheduled_for, 'infinity'), v_due.id
      ) < (
        v_due.priority, v_queued.created_at, coalesce(v_queued.scheduled_for, 'infinity'),
        v_queued.id
      )) then
        v_next := v_due;
        fetch c_due into v_due;
        v_has_due := found;
      else
        v_next := v_queued;
        v_has_queued := null;
      end if;
      continue when v_round > 1 and v_next.id = any (v_picked);
      v_at := null;
      if v_next.max_in_flight is not null then
        exit when v_round = 1 and v_blocked >= c_tries;
        v_at := array_position(v_known, v_next.schedule_id);
        if v_at is null then
          v_known := v_known || v_next.schedule_id;
          v_at := cardinality(v_known);
          v_left[v_at] := lenses.fn_claimable_runs(v_next.schedule_id);
        end if;
        if v_left[v_at] <= 0 then
          v_blocked := v_blocked + 1;
          continue;
        end if;
      end if;
      perform from lenses.workflow_runs as r
      where r.id = v_next.id and r.status || '' = 'pending'
        and (r.available_at is null or r.available_at <= now())
        and (not r.needs_approval or exists (
          select from agents.team_runs as t
          where t.workflow_run_id = r.id and t.approval_status = 'approved'))
      for no key update skip locked;
      if found then
        v_picked := v_picked || v_next.id;
        if v_at is not null then
          v_left[v_at] := v_left[v_at] - 1;
        end if;
      elsif v_at is not null and exists (
        select from lenses.workflow_runs as r
        where r.id = v_next.id and r.status || '' = 'pending'
          and (r.available_at is null or r.available_at <= now())
      ) then
        v_left[v_at] := 0;
        v_blocked := v_blocked + 1;
      elsif p_workflow_ids is not null then
        v_blocked := v_blocked + 1;
      end if;
    end loop;
    close c_queue;
    close c_due;
    exit when cardinality(v_picked) >= p_limit or v_blocked < c_tries;

    -- Many of the first runs cannot start, usually because of their schedules' limits: leave out
    -- all schedules that are full.
    v_before := v_full;
    v_full := array(
      select k.id from unnest(v_known, v_left) as k (id, free) where k.free <= 0
      union
      select x.schedule_id
      from lenses.workflow_runs as x
      inner join lenses.workflow_schedules as s on s.id = x.schedule_id
      where x.status = 'running' and x.schedule_id <> all (v_known)
      group by x.schedule_id, s.max_in_flight
      having count(*) >= s.max_in_flight);
    exit when v_round > 1 and cardinality(v_full) <= cardinality(v_before);
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
