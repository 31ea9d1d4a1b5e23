-- owner: lf_sql_engine
-- Decides about slots, for the tick, preview, backfill and run-now alike. Set-wise; writes nothing.
-- p_mode is tick; optimistic (a tick that leaves it to the insert to find a slot that has a run);
-- preview (looks at runs as they are now, in every row, and at the quota of waiting runs, which a
-- tick leaves to lenses.fn_hold_slots); backfill (no overlap guard); or manual (slot NULL: guards
-- 0, 3 and 5 only). Only a preview gets the inputs themselves.
-- Guards run in order, and the first that refuses gives the reason. A condition is evaluated once
-- for each schedule and its context is built once for each workflow, and only where the earlier
-- guards let a slot pass. A parent row that is gone (deleted past the foreign keys) is a reason
-- too, so that no slot passes without its calendar or its gates. The planner settings keep the plan
-- to index look-ups, whatever its estimates.
create or replace function lenses.fn_evaluate_slots(
  p_candidates lenses.slot_candidate[],
  p_now timestamptz,
  p_mode text
)
returns setof lenses.slot_decision
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  c_is_tick constant boolean := p_mode in ('tick', 'optimistic');
  v_settings lenses.dispatch_settings;
  v_has_own_keys boolean;
  v_full_ids uuid[] := '{}';
begin
  select d.* into v_settings from lenses.dispatch_settings as d;
  v_has_own_keys := exists (
    select from lenses.workflow_runs as r
    where left(r.idempotency_key, 32) <> replace(r.id::text, '-', '')
      and r.idempotency_key <> 'manual:' || r.id::text);
  if p_mode = 'preview' and v_settings.max_pending_runs_per_lenser is not null then
    v_full_ids := array(
      select q.lenser_id
      from (
        select distinct s.lenser_id
        from unnest(p_candidates) as c
        inner join lenses.workflow_schedules as s on s.id = c.schedule_id
      ) as q
      where lenses.fn_waiting_runs(q.lenser_id, v_settings.max_pending_runs_per_lenser)
        >= v_settings.max_pending_runs_per_lenser);
  end if;
  return query
  with gated as materialized (
    select
      c.*,
      case when c.slot is null then gen_random_uuid() end as manual_id,
      -- lenses.fn_slot_key, written out because a call for each row would cost more.
      encode(
        sha256(convert_to(
          c.schedule_id || ':' || floor(extract(epoch from c.slot))::bigint, 'UTF8')),
        'hex') as slot_key,
      s.*,
      w.kind,
      coalesce(s.pinned_version, w.version) as version,
      coalesce(s.own_assignee_id, a.assignee_id) as assignee_id,
      case when s.own_assignee_id is null then a.assignee_type else s.own_assignee_type end
        as assignee_type,
      a.approval_policy as assignment_approval,
      a.workflow_id <> s.workflow_id as is_assignment_elsewhere,
      k.name as calendar_name,
      case
        when w.status is null then 'workflow_missing'
        when w.status <> 'active' then 'workflow_not_active'
        when s.workflow_assignment_id is not null and a.id is null then 'assignment_missing'
        when s.calendar_id is not null and c.slot is not null and k.name is null
          then 'calendar_missing'
        when s.calendar_id is not null and c.slot is not null
          and coalesce(
            (
              k.day = any (k.dates)
              or k.rules <> '[]' and exists (
                select from lenses.fn_calendar_rule_dates(k.rules, k.day, k.day))
            ) = (k.kind = 'skip_dates'),
            true)
          then 'calendar'
      end as gate
    from unnest(p_candidates)
      with ordinality as c (schedule_id, slot, due_at, is_missed, available_at, ord)
    -- Look-ups by key, row by row: offset 0 keeps the planner from joining whole tables.
    cross join lateral (
      select
        r.lenser_id, r.workflow_id, r.workflow_version as pinned_version,
        r.assignee_id as own_assignee_id, r.assignee_type as own_assignee_type,
        r.workflow_assignment_id, r.calendar_id, r.approval_policy,
        r.inputs_rotation is not null as has_rotation, r.last_rotation_index, r.max_in_flight,
        r.on_holiday <> 'skip' as is_movable,
        -- An upper bound without reading the value: the most that each method can compress.
        pg_column_size(coalesce(r.inputs_rotation, r.inputs_template)) * case
          pg_column_compression(coalesce(r.inputs_rotation, r.inputs_template))
          when 'pglz' then 90 when 'lz4' then 255 else 1 end as inputs_bytes,
        coalesce(r.on_overlap, case
          when r.max_in_flight = 1
            and coalesce(r.missed_override, r.on_missed, v_settings.default_on_missed)
              in ('backfill', 'spread')
            then case lenses.fn_merge_policies(
              jsonb_build_object('queue_policy', r.queue_policy), r.explicit_defaults,
              r.workflow_assignment_id) #>> '{queue_policy,mode}'
              when 'serial' then 'queue' else v_settings.default_on_overlap end
          else v_settings.default_on_overlap end) as on_overlap,
        case when c.slot is not null then nullif(r.pre_dispatch_condition, '{}') end as condition
      from lenses.workflow_schedules as r where r.id = c.schedule_id offset 0
    ) as s
    left join lateral (
      select r.kind, r.status, r.version
      from lenses.workflows as r where r.id = s.workflow_id offset 0
    ) as w on true
    left join lateral (
      select r.id, r.assignee_id, r.assignee_type, r.approval_policy, r.workflow_id
      from agents.workflow_assignments as r where r.id = s.workflow_assignment_id offset 0
    ) as a on true
    left join lateral (
      select r.name, r.kind, r.dates, r.rules, (c.slot at time zone r.timezone)::date as day
      from lenses.schedule_calendars as r where r.id = s.calendar_id offset 0
    ) as k on true
  ),

  contexts as materialized (
    select
      q.workflow_id, lenses.fn_condition_context(q.lenser_id, q.workflow_id, p_now) as context
    from (
      select distinct g.lenser_id, g.workflow_id
      from gated as g where g.gate is null and g.condition is not null
    ) as q
  ),

  conditions as materialized (
    select
      q.schedule_id, lenses.fn_condition_failure(q.schedule_id, q.condition, x.context) as failure
    from (
      select distinct on (g.schedule_id) g.schedule_id, g.workflow_id, g.condition
      from gated as g where g.gate is null and g.condition is not null
    ) as q
    inner join contexts as x on x.workflow_id = q.workflow_id
  ),

  budgets as materialized (
    select b.assignee_id, b.is_overspent, b.battles_left, b.spending_limit_credits
    from lenses.fn_budgets(
      (select array_agg(distinct g.assignee_id) from gated as g where g.assignee_id is not null),
      p_now) as b
  ),

  -- Which battle of its agent a slot is, among those that passed the guards so far.
  battles as materialized (
    select
      g.ord,
      count(*) filter (where g.gate is null and q.failure is null)
        over (partition by g.assignee_id order by g.ord) as place
    from gated as g
    left join conditions as q on q.schedule_id = g.schedule_id
    where g.kind = 'battle'
  ),

  judged as materialized (
    select
      g.*,
      q.failure,
      b.spending_limit_credits,
      v.cycle,
      coalesce((g.approval_policy ->> 'requiresApproval')::boolean, true)
      or coalesce(g.approval_policy -> 'gates' ?| v.node_actions, false)
      or g.assignment_approval is not null and (
        coalesce((g.assignment_approval ->> 'requiresApproval')::boolean, true)
        or coalesce(g.assignment_approval -> 'gates' ?| v.node_actions, false)
        or g.is_assignment_elsewhere and lenses.fn_run_needs_approval(
          g.workflow_id, g.version, g.schedule_id, g.approval_policy)
      ) as needs_approval,
      case
        when g.gate is not null then g.gate
        when v.version is null then 'version_missing'
        when q.failure is not null then 'condition_failed'
        when g.assignee_id is not null
          and not lenses.fn_has_assignee(g.lenser_id, g.assignee_type, g.assignee_id)
          then 'assignee_missing'
        when b.is_overspent or (g.kind = 'battle' and b.battles_left <= 0) then 'budget_exceeded'
        when (c_is_tick or p_mode = 'preview') and g.max_in_flight is not null
          and g.on_overlap <> 'replace'
          and g.max_in_flight <= (
            select count(*) from lenses.workflow_runs as r
            where r.schedule_id = g.schedule_id
              and r.status in ('pending_approval', 'pending', 'running'))
          then 'overlap_in_flight'
        when v.cycle is not null then 'cycle_detected'
        -- Each look-up follows the order of its index: with plain equality, a planner without
        -- statistics may read all of workflow_runs_newest_idx row by row.
        when g.slot is not null and p_mode <> 'optimistic' and coalesce(
          (
            select n.id
            from (
              select r.id
              from lenses.workflow_runs as r
              where r.id >= substr(g.slot_key, 1, 32)::uuid
              order by r.id
              limit 1
            ) as n
            where n.id = substr(g.slot_key, 1, 32)::uuid),
          (
            select n.id
            from (
              select r.id, r.schedule_id, r.scheduled_for
              from lenses.workflow_runs as r
              where (r.schedule_id, r.scheduled_for) >= (g.schedule_id, g.slot)
              order by r.schedule_id, r.scheduled_for
              limit 1
            ) as n
            where n.schedule_id = g.schedule_id and n.scheduled_for = g.slot)
        ) is not null then 'schedule_slot_exists'
        when v_has_own_keys and exists (
          select from lenses.workflow_runs as r
          where r.idempotency_key = g.slot_key
            and left(r.idempotency_key, 32) <> replace(r.id::text, '-', '')
            and r.idempotency_key <> 'manual:' || r.id::text)
          then 'schedule_slot_exists'
        when c_is_tick and b.battles_left < t.place then 'wait'
        when g.lenser_id = any (v_full_ids) then 'pending_quota'
      end as reason
    from gated as g
    left join lateral (
      select r.version, r.cycle, r.node_actions
      from lenses.workflow_versions as r
      where r.workflow_id = g.workflow_id and r.version = g.version offset 0
    ) as v on true
    left join conditions as q on q.schedule_id = g.schedule_id
    left join budgets as b on b.assignee_id = g.assignee_id
    left join battles as t on t.ord = g.ord
  ),

  -- Which entry of its schedule's rotation a slot takes. Entries are counted once for each
  -- schedule, however many slots it has: counting means reading them all.
  rotations as materialized (
    select
      j.ord,
      (j.last_rotation_index + count(*) filter (where j.reason is null) over (
        partition by j.schedule_id order by j.ord
        rows between unbounded preceding and 1 preceding
      )) % nullif(r.entries, 0) as rotation_index
    from judged as j
    inner join (
      select q.schedule_id, n.entries
      from (select distinct g.schedule_id from gated as g where g.has_rotation) as q
      cross join lateral (
        select jsonb_array_length(s.inputs_rotation) as entries
        from lenses.workflow_schedules as s where s.id = q.schedule_id offset 0
      ) as n
    ) as r on r.schedule_id = j.schedule_id
  ),

  decided as (
    select
      j.*,
      case
        when j.reason is null then 'dispatch'
        when j.reason = 'wait' then 'wait'
        when j.reason = 'overlap_in_flight' and j.on_overlap = 'queue' then 'defer'
        when j.reason = 'pending_quota' then 'defer'
        else 'skip'
      end as decision,
      o.rotation_index
    from judged as j
    left join rotations as o on o.ord = j.ord
  )

  select
    d.schedule_id,
    d.slot,
    d.due_at,
    d.is_missed,
    d.available_at,
    d.decision,
    d.reason,
    case d.reason
      when 'workflow_missing' then 'validation_failed'
      when 'version_missing' then 'validation_failed'
      when 'assignment_missing' then 'validation_failed'
      when 'calendar_missing' then 'validation_failed'
      when 'workflow_not_active' then 'paused'
      when 'calendar' then 'skipped_calendar'
      when 'condition_failed' then
        case when d.failure = 'false' then 'skipped_condition' else 'condition_failed' end
      when 'assignee_missing' then 'validation_failed'
      when 'budget_exceeded' then 'budget_exceeded'
      when 'overlap_in_flight' then
        case when d.decision = 'defer' then 'deferred' else 'skipped_overlap' end
      when 'pending_quota' then 'deferred'
      when 'cycle_detected' then 'validation_failed'
      when 'schedule_slot_exists' then 'skipped_overlap'
      else 'dispatched'
    end,
    case d.reason
      when 'workflow_missing' then 'workflow ' || d.workflow_id || ' is gone'
      when 'version_missing'
        then 'workflow ' || d.workflow_id || ' has no version ' || d.version
      when 'assignment_missing'
        then 'workflow assignment ' || d.workflow_assignment_id || ' is gone'
      when 'calendar_missing' then 'calendar ' || d.calendar_id || ' is gone'
      when 'calendar' then d.calendar_name
      when 'condition_failed' then d.failure
      when 'assignee_missing' then d.assignee_type || ' ' || d.assignee_id || ' is gone'
      when 'cycle_detected' then array_to_string(d.cycle, ' -> ')
      when 'schedule_slot_exists' then 'the slot has a run already'
    end,
    case when p_mode = 'preview' then (
      select case when d.rotation_index is null then r.inputs_template
        else r.inputs_rotation -> d.rotation_index::integer end
      from lenses.workflow_schedules as r where r.id = d.schedule_id
    ) end,
    d.rotation_index::integer,
    coalesce(d.manual_id, substr(d.slot_key, 1, 32)::uuid),
    coalesce(d.slot_key, 'manual:' || d.manual_id),
    d.version,
    d.needs_approval,
    case when d.assignee_type = 'agent' then d.assignee_id end,
    case when d.assignee_type = 'team' then d.assignee_id end,
    case when d.spending_limit_credits is not null
      then jsonb_build_object('spending_limit_credits', d.spending_limit_credits)
      else '{}' end,
    case when d.reason is null then d.inputs_bytes end,
    d.lenser_id,
    d.is_movable,
    d.max_in_flight is not null and d.on_overlap = 'replace'
  from decided as d
  order by d.ord;
end;
$$;
