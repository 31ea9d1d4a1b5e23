-- owner: lf_sql_engine
-- Folds the changes that have piled up in a workflow's counts into instants and longer spans, a
-- thousand at a time, and drops what no condition can ask for any more. A caller that adds a change
-- calls it one time in 128: p_pile changes are quick to read, and folding more often would slow the
-- tick. It never waits: it passes over rows that another transaction is folding. Under repeatable
-- read, where those rows would cause a serialization failure, it does nothing.
create or replace function lenses.fn_fold_run_counts(
  p_lenser_id uuid,
  p_workflow_id uuid,
  p_pile integer default 1000
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (
    select from lenses.run_counts as c
    where c.workflow_id = p_workflow_id and c.grain = 0
    offset p_pile - 1
  )
    or current_setting('transaction_isolation') <> 'read committed'
    -- only a recount takes this lock in exclusive mode
    or not pg_try_advisory_xact_lock_shared(1818653553, 18)
  then
    return;
  end if;

  with old as (
    select c.grain, c.instant, c.id
    from lenses.run_counts as c
    where c.workflow_id = p_workflow_id and c.grain between 0 and 4
      and c.instant < now() - interval '48 hours'
    limit 1000
    for update skip locked
  )

  delete from lenses.run_counts as c
  using old as o
  where c.workflow_id = p_workflow_id and c.grain = o.grain
    and c.instant = o.instant and c.id = o.id;

  with pile as materialized (
    select c.grain, c.instant, c.id
    from lenses.run_counts as c
    where c.workflow_id = p_workflow_id and c.grain = 0
    order by c.instant
    limit 1000
    for update skip locked
  ),

  places as materialized (
    select distinct k.grain, k.instant
    from pile as p cross join lateral lenses.fn_count_places(p.instant) as k
  ),

  folded as materialized (
    select c.grain, c.instant, c.id
    from places as k
    inner join lenses.run_counts as c
      on c.workflow_id = p_workflow_id and c.grain = k.grain
        and c.instant = k.instant
    for update of c skip locked
  ),

  gone as (
    delete from lenses.run_counts as c
    using (select * from pile union all select * from folded) as g
    where c.workflow_id = p_workflow_id and c.grain = g.grain
      and c.instant = g.instant and c.id = g.id
    returning c.grain, c.instant, c.total, c.succeeded, c.failed
  )

  insert into lenses.run_counts (
    lenser_id, workflow_id, grain, instant, total, succeeded, failed
  )
  select
    p_lenser_id, p_workflow_id, n.grain, n.instant, sum(n.total), sum(n.succeeded), sum(n.failed)
  from (
    select k.grain, k.instant, g.total, g.succeeded, g.failed
    from gone as g cross join lateral lenses.fn_count_places(g.instant) as k
    where g.grain = 0
    union all
    select g.grain, g.instant, g.total, g.succeeded, g.failed
    from gone as g
    where g.grain > 0
  ) as n
  group by n.grain, n.instant
  having (sum(n.total), sum(n.succeeded), sum(n.failed)) <> (0, 0, 0);
end;
$$;
