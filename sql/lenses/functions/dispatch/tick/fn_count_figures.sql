-- owner: lf_sql_engine
-- Adds a pass to the tick's row: schedules handled, runs, skips by reason, and how late the runs
-- were.
create or replace function lenses.fn_count_figures(
  p_tick_id bigint,
  p_now timestamptz,
  p_due integer,
  p_decisions lenses.slot_decision[],
  p_plans lenses.slot_plan[]
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dispatched integer;
  v_deferred integer;
  v_skipped jsonb;
  v_lag_sum numeric;
  v_buckets jsonb;
begin
  select
    count(*) filter (where d.decision = 'dispatch'),
    count(*) filter (where d.decision = 'defer'),
    sum(greatest(extract(epoch from p_now - d.due_at) * 1000, 0))
      filter (where d.decision = 'dispatch')
  into v_dispatched, v_deferred, v_lag_sum
  from unnest(p_decisions) as d;

  select coalesce(jsonb_object_agg(q.reason, q.slots), '{}') into v_skipped
  from (
    select d.reason, count(*) as slots
    from unnest(p_decisions) as d where d.decision = 'skip' group by d.reason
    union all
    select 'missed', sum(p.dropped_count) from unnest(p_plans) as p having sum(p.dropped_count) > 0
  ) as q;

  -- Instants are few, runs are many: a bucket is looked up once for each instant.
  select coalesce(jsonb_object_agg(q.bound, q.runs), '{}') into v_buckets
  from (
    select b.bound, sum(i.runs) as runs
    from (
      select d.due_at, count(*) as runs
      from unnest(p_decisions) as d
      where d.decision = 'dispatch'
      group by d.due_at
    ) as i
    cross join lateral lenses.fn_lag_bucket(
      extract(epoch from p_now - i.due_at) * 1000) as b (bound)
    group by b.bound
  ) as q;

  update lenses.dispatch_ticks as t
  set
    due = t.due + p_due,
    dispatched = t.dispatched + v_dispatched,
    deferred = t.deferred + v_deferred,
    skipped = lenses.fn_add_counts(t.skipped, v_skipped),
    lag = case when v_dispatched = 0 then t.lag else jsonb_build_object(
      'buckets', lenses.fn_add_counts(coalesce(t.lag -> 'buckets', '{}'), v_buckets),
      'count', coalesce((t.lag ->> 'count')::bigint, 0) + v_dispatched,
      'sum', coalesce((t.lag ->> 'sum')::numeric, 0) + round(v_lag_sum, 3)) end
  where t.id = p_tick_id;
end;
$$;
