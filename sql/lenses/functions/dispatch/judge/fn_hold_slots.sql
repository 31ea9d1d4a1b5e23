-- owner: lf_sql_engine
-- Lets slots wait whose lenser has as many waiting runs as max_pending_runs_per_lenser allows: the
-- first of a schedule that finds no room is deferred, what comes after it is left for then. Waiting
-- is no error and no log row; nothing is lost. Two lanes, or a run by hand beside a tick, may pass
-- the limit by a batch: the tick waits for nobody.
create or replace function lenses.fn_hold_slots(p_decisions lenses.slot_decision[])
returns lenses.slot_decision[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cap constant integer := (
    select d.max_pending_runs_per_lenser from lenses.dispatch_settings as d);
begin
  if v_cap is null then
    return p_decisions;
  end if;
  return array(
    with decided as materialized (
      select
        d.ord, d.schedule_id, d.decision, s.lenser_id,
        count(*) filter (where d.decision = 'dispatch')
          over (partition by s.lenser_id order by d.ord) as place
      from (
        select g.ord, p_decisions[g.ord].schedule_id, p_decisions[g.ord].decision
        from generate_subscripts(p_decisions, 1) as g (ord)
      ) as d
      inner join lenses.workflow_schedules as s on s.id = d.schedule_id
    ),

    free_places as materialized (
      select d.lenser_id, v_cap - lenses.fn_waiting_runs(d.lenser_id, v_cap) as places
      from decided as d
      group by d.lenser_id
    ),

    held as materialized (
      select d.schedule_id, min(d.ord) as ord
      from decided as d
      inner join free_places as f on f.lenser_id = d.lenser_id
      where d.decision = 'dispatch' and d.place > f.places
      group by d.schedule_id
    )

    select
      case
        when h.ord = d.ord then jsonb_populate_record(
          p_decisions[d.ord],
          '{"decision": "defer", "reason": "pending_quota", "status": "deferred"}')
        when h.ord < d.ord then jsonb_populate_record(
          p_decisions[d.ord], '{"decision": "wait", "reason": "wait"}')
        else p_decisions[d.ord]
      end
    from decided as d
    left join held as h on h.schedule_id = d.schedule_id
    order by d.ord);
end;
$$;
