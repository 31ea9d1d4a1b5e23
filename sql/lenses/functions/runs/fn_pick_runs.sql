-- owner: lf_sql_engine
-- Up to p_limit pending runs, locked, by priority, then age, then slot; what others hold is passed over.
-- A schedule with a limit is a queue of its own: its row in lenses.schedule_due is taken first (and written,
-- so that a stale snapshot is a serialization failure), then its running runs are counted, those with an
-- expired lease aside; hence no two claims pass the limit together, and its runs start in order.
-- The queue is looked at through a growing window, so that a claim reads about as much as it takes. The
-- planner's switches: statistics of a queue are always wrong, its index always right.
create or replace function lenses.fn_pick_runs(p_limit integer)
returns uuid[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_picked uuid[] := '{}';
  v_passed uuid[] := '{}';
  v_window integer := p_limit + 16;
  v_wanted integer := p_limit;
  v_seen integer;
  v_free uuid[];
  v_free_at integer[];
  v_limited uuid[];
  v_limited_at integer[];
  v_limited_of uuid[];
  v_held uuid[];
begin
  loop
    with seen as materialized (
      select q.id, q.schedule_id, s.max_in_flight, (row_number() over ())::integer as place
      from (
        select r.id, r.schedule_id
        from lenses.workflow_runs as r
        where r.status = 'pending'
          and (r.available_at is null or r.available_at <= now())
          and (not r.needs_approval or exists (
            select from agents.team_runs as t
            where t.workflow_run_id = r.id and t.approval_status = 'approved'))
          and r.id <> all (v_picked)
          and (r.schedule_id is null or r.schedule_id <> all (v_passed))
        order by r.priority desc, r.created_at, r.scheduled_for, r.id
        limit v_window
      ) as q
      left join lenses.workflow_schedules as s on s.id = q.schedule_id
    ),

    free as materialized (
      select r.id, n.place
      from seen as n
      inner join lenses.workflow_runs as r on r.id = n.id
      where n.max_in_flight is null and r.status = 'pending'
      order by n.place
      limit v_wanted
      for no key update of r skip locked
    )

    select
      (select count(*) from seen),
      array(select f.id from free as f order by f.place),
      array(select f.place from free as f order by f.place),
      array(select n.id from seen as n where n.max_in_flight is not null order by n.place),
      array(select n.place from seen as n where n.max_in_flight is not null order by n.place),
      array(select n.schedule_id from seen as n where n.max_in_flight is not null order by n.place)
    into v_seen, v_free, v_free_at, v_limited, v_limited_at, v_limited_of;

    if v_limited = '{}' then
      v_picked := v_picked || v_free;
    else
      with held as (
        select d.schedule_id
        from (
          select l.schedule_id, min(l.place) as place
          from unnest(v_limited_of, v_limited_at) as l (schedule_id, place)
          group by l.schedule_id
        ) as w
        inner join lenses.schedule_due as d on d.schedule_id = w.schedule_id
        order by w.place
        limit v_wanted
        for no key update of d skip locked
      ),

      written as (
        update lenses.schedule_due as d set due_at = d.due_at
        from held as h
        where d.schedule_id = h.schedule_id
        returning d.schedule_id
      )

      select array(select w.schedule_id from written as w) into v_held;

      v_picked := v_picked || array(
        select c.id
        from (
          select f.id, f.place from unnest(v_free, v_free_at) as f (id, place)
          union all
          select l.id, l.place
          from unnest(v_held) as h (schedule_id)
          inner join lenses.workflow_schedules as s on s.id = h.schedule_id
          cross join lateral (
            select r.id, n.place
            from unnest(v_limited, v_limited_at, v_limited_of) as n (id, place, schedule_id)
            inner join lenses.workflow_runs as r on r.id = n.id
            where n.schedule_id = h.schedule_id and r.status = 'pending'
            order by n.place
            limit greatest(coalesce(s.max_in_flight, v_wanted) - (
              select count(*)
              from lenses.workflow_runs as x
              where x.schedule_id = h.schedule_id and x.status = 'running'
                and x.lease_expires_at > now()
            ), 0)
            for no key update of r skip locked
          ) as l
        ) as c
        order by c.place
        limit v_wanted);
      v_passed := v_passed || case
        when cardinality(v_held) < v_wanted then v_limited_of else v_held end;
    end if;

    v_wanted := p_limit - cardinality(v_picked);
    exit when v_wanted <= 0 or v_seen < v_window;
    v_window := v_window * 4;
  end loop;
  return v_picked;
end
$$;
