-- owner: lf_sql_engine
-- Takes up to p_limit schedules of one kind for a batch: fresh (on time, without a condition),
-- conditional (on time, with one) or late (late slots wait, or may: due before p_late_until). It
-- leaves out what this tick, or another lane of its round, has taken. It locks the due row and the
-- schedule row, both or neither, with SKIP LOCKED. Where all fit into one batch the oldest due come
-- first. Where more are due, the tick's row lists the tenants that have any, and each gets an equal
-- share of a batch, its oldest due first, until it has none left. A tenant that was not reached
-- comes first in the next batch. Each lane begins elsewhere in that list, so that their first
-- batches together reach as many tenants as possible. input_bytes is the size of each schedule's
-- inputs.
create or replace function lenses.fn_pick_due(
  p_tick_id bigint,
  p_now timestamptz,
  p_late_until timestamptz,
  p_kind text,
  p_limit integer,
  out schedule_ids uuid[],
  out input_bytes integer[]
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_from timestamptz := case when p_kind = 'late' then '-infinity' else p_late_until end;
  v_tick lenses.dispatch_ticks;
  v_round_ids bigint[];
  v_turns uuid[];
  v_first integer;
  v_share integer;
  v_lenser_ids uuid[];
begin
  select t.* into v_tick from lenses.dispatch_ticks as t where t.id = p_tick_id;
  v_turns := case p_kind
    when 'fresh' then v_tick.fresh_turns when 'conditional' then v_tick.conditional_turns
    else v_tick.late_turns end;
  v_round_ids := p_tick_id || array(
    select t.id from lenses.dispatch_ticks as t
    where t.started_at >= v_tick.round_at and t.round_at = v_tick.round_at
      and t.lane <> v_tick.lane);

  for v_look in 1 .. 2 loop
    if v_turns is null then
      if (
        select count(*) <= p_limit
        from (
          select
          from lenses.schedule_due as d
          where d.due_at >= v_from and d.due_at <= p_now
            and case when d.is_backlog or d.due_at < p_late_until then 'late'
              when d.has_condition then 'conditional' else 'fresh' end = p_kind
          limit p_limit + 1
        ) as q
      ) then
        select array_agg(q.schedule_id), array_agg(q.input_bytes)
        into schedule_ids, input_bytes
        from (
          select d.schedule_id, d.input_bytes
          from lenses.schedule_due as d
          inner join lenses.workflow_schedules as s on s.id = d.schedule_id
          where d.due_at >= v_from and d.due_at <= p_now
            and case when d.is_backlog or d.due_at < p_late_until then 'late'
              when d.has_condition then 'conditional' else 'fresh' end = p_kind
            and s.is_active and (s.tick_id = any (v_round_ids)) is not true
          order by d.due_at
          limit p_limit
          for no key update of d, s skip locked
        ) as q;
        return;
      end if;
      v_turns := array(
        select d.lenser_id
        from lenses.schedule_due as d
        where d.due_at >= v_from and d.due_at <= p_now
          and case when d.is_backlog or d.due_at < p_late_until then 'late'
            when d.has_condition then 'conditional' else 'fresh' end = p_kind
        group by d.lenser_id
        order by min(d.due_at), d.lenser_id);
      v_first := cardinality(v_turns) * (v_tick.lane - 1)
        / (select greatest(d.dispatch_lanes, v_tick.lane) from lenses.dispatch_settings as d);
      v_turns := v_turns[v_first + 1 :] || v_turns[: v_first];
    end if;

    v_share := ceil(p_limit::numeric / greatest(cardinality(v_turns), 1));
    select array_agg(q.schedule_id), array_agg(q.input_bytes), array_agg(q.lenser_id)
    into schedule_ids, input_bytes, v_lenser_ids
    from (
      select x.schedule_id, x.input_bytes, t.lenser_id
      from unnest(v_turns) with ordinality as t (lenser_id, turn)
      cross join lateral (
        select d.schedule_id, d.input_bytes
        from lenses.schedule_due as d
        inner join lenses.workflow_schedules as s on s.id = d.schedule_id
        where d.lenser_id = t.lenser_id and d.due_at >= v_from and d.due_at <= p_now
          and case when d.is_backlog or d.due_at < p_late_until then 'late'
            when d.has_condition then 'conditional' else 'fresh' end = p_kind
          and s.is_active and (s.tick_id = any (v_round_ids)) is not true
        order by d.due_at
        limit v_share
        for no key update of d, s skip locked
      ) as x
      limit p_limit
    ) as q;
    exit when schedule_ids is not null;
    v_turns := null;
  end loop;

  -- A tenant that got its full share may have more due, and goes to the end of the list.
  v_turns := (
    with taken as materialized (
      select u.lenser_id, count(*) as schedules from unnest(v_lenser_ids) as u (lenser_id)
      group by u.lenser_id
    ),

    reached as materialized (
      select case when cardinality(schedule_ids) < p_limit then cardinality(v_turns)
        else max(t.turn) filter (where k.lenser_id is not null) end as turn
      from unnest(v_turns) with ordinality as t (lenser_id, turn)
      left join taken as k on k.lenser_id = t.lenser_id
    )

    select array_agg(t.lenser_id order by t.turn <= r.turn, t.turn)
    from unnest(v_turns) with ordinality as t (lenser_id, turn)
    cross join reached as r
    left join taken as k on k.lenser_id = t.lenser_id
    where t.turn > r.turn or k.schedules >= v_share
      or t.turn = r.turn and cardinality(schedule_ids) = p_limit);
  update lenses.dispatch_ticks as t
  set
    fresh_turns = case p_kind when 'fresh' then v_turns else t.fresh_turns end,
    conditional_turns = case p_kind when 'conditional' then v_turns else t.conditional_turns end,
    late_turns = case p_kind when 'late' then v_turns else t.late_turns end
  where t.id = p_tick_id;
end;
$$;
