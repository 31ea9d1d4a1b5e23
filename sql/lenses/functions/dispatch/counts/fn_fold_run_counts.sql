-- owner: lf_sql_engine
-- Folds the changes that have piled up in a workflow's counts into instants and longer spans, a
-- thousand at a time, and drops what no condition can ask for any more. A caller that adds a change
-- calls it one time in 128: p_pile changes are quick to read, and folding more often would slow the
-- tick. It never waits: it passes over rows that another transaction is folding. Under repeatable
-- read, where those rows would cause a serialization failure, it does nothing. It deletes rows by
-- their ctids, which stand still, since the rows are locked and nothing updates them: a join would
-- compare each row of the pile with each, as the planner knows the size of neither.
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

  delete from lenses.run_counts as c
  where c.ctid = any (array(
    select x.ctid
    from lenses.run_counts as x
    where x.workflow_id = p_workflow_id and x.grain between 0 and 4
      and x.instant < now() - interval '48 hours'
    limit 1000
    for update skip locked));

  with pile as materialized (
    select c.ctid as place, c.instant
    from lenses.run_counts as c
    where c.workflow_id = p_workflow_id and c.grain = 0
    order by c.instant
    limit 1000
    for update skip locked
  ),

  places as materialized (
    select distinct k.grain, date_bin(k.span, p.instant, '2000-01-01Z') as instant
    from (select distinct p.instant from pile as p) as p
    cross join lenses.fn_count_grains() as k
  ),

  folded as materialized (
    select c.place
    from places as k
    cross join lateral (
      select x.ctid as place
      from lenses.run_counts as x
      where x.workflow_id = p_workflow_id and x.grain = k.grain and x.instant = k.instant
      for update skip locked
    ) as c
  ),

  gone as (
    delete from lenses.run_counts as c
    where c.ctid = any (array(
      select p.place from pile as p union all select f.place from folded as f))
    returning c.grain, c.instant, c.total, c.succeeded, c.failed
  )

  insert into lenses.run_counts (
    lenser_id, workflow_id, grain, instant, total, succeeded, failed
  )
  select
    p_lenser_id, p_workflow_id, n.grain, n.instant, sum(n.total), sum(n.succeeded), sum(n.failed)
  from (
    select
      k.grain, date_bin(k.span, c.instant, '2000-01-01Z') as instant, c.total, c.succeeded, c.failed
    from (
      select
        g.instant, sum(g.total) as total, sum(g.succeeded) as succeeded, sum(g.failed) as failed
      from gone as g
      where g.grain = 0
      group by g.instant
    ) as c
    cross join lenses.fn_count_grains() as k
    union all
    select g.grain, g.instant, g.total, g.succeeded, g.failed
    from gone as g
    where g.grain > 0
  ) as n
  group by n.grain, n.instant
  having (sum(n.total), sum(n.succeeded), sum(n.failed)) <> (0, 0, 0);
end;
$$;
