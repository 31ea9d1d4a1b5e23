-- owner: lf_sql_engine
-- For operators: recounts what lenses.run_counts and lenses.lenser_usage keep, and recomputes the
-- limits that schedules get from their policies, where rows were written with triggers disabled. It
-- is safe beside everything else: deleting and counting use the snapshot of one statement, changes
-- that are committed later add themselves, and nothing is folded meanwhile. For usage it locks each
-- tenant's row, so that saves wait. Counts of a workflow that make no pile are not folded: four
-- times the rows would hold up an upgrade. p_if_none: only where nothing has been counted yet; an
-- install calls it so.
create or replace function lenses.fn_recount(p_if_none boolean default false)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_follows constant boolean := (
    exists (
      select from lenses.workflow_schedules as s where s.workflow_assignment_id is not null)
    or exists (select from lenses.dispatch_settings as d where d.default_queue_mode <> 'parallel'));
begin
  if p_if_none and (
    exists (select from lenses.lenser_usage) or exists (select from lenses.run_counts)
  ) then
    return;
  end if;
  perform pg_advisory_xact_lock(1818653553, 18);
  -- Locks schedules, which come before usage. What an upgrade finds has the limits of its own
  -- policies; the tables are locked, so it looks no further where no others apply.
  if not p_if_none or v_follows then
    perform lenses.fn_follow_policies(null);
  end if;
  with gone as (
    delete from lenses.run_counts
  ),

  counted as (
    select
      r.lenser_id, r.workflow_id, r.created_at, count(*) as total,
      count(*) filter (where r.status = 'completed') as succeeded,
      count(*) filter (where r.status in ('failed', 'timed_out')) as failed,
      count(*) over (partition by r.lenser_id, r.workflow_id) >= 1000 as is_pile
    from lensers.profiles as p
    cross join lateral (
      -- by the index of a tenant's runs, however long the history
      select w.lenser_id, w.workflow_id, w.created_at, w.status
      from lenses.workflow_runs as w
      where w.lenser_id = p.id and w.created_at > now() - interval '48 hours'
      offset 0
    ) as r
    group by r.lenser_id, r.workflow_id, r.created_at
  )

  insert into lenses.run_counts (
    lenser_id, workflow_id, grain, instant, total, succeeded, failed
  )
  select c.lenser_id, c.workflow_id, 0, c.created_at, c.total, c.succeeded, c.failed
  from counted as c
  where not c.is_pile
  union all
  select
    c.lenser_id, c.workflow_id, k.grain, date_bin(k.span, c.created_at, '2000-01-01Z'),
    sum(c.total), sum(c.succeeded), sum(c.failed)
  from counted as c
  cross join lenses.fn_count_grains() as k
  where c.is_pile
  group by c.lenser_id, c.workflow_id, k.grain, date_bin(k.span, c.created_at, '2000-01-01Z');

  insert into lenses.lenser_usage (lenser_id)
  select p.id from lensers.profiles as p
  on conflict do nothing;
  perform from lenses.lenser_usage as u order by u.lenser_id for update;
  update lenses.lenser_usage as u
  set schedules = f.schedules, gateway_crons = f.gateway_crons, template_bytes = f.template_bytes
  from lenses.fn_usage_of_all() as f
  where f.lenser_id = u.lenser_id;
end;
$$;

comment on function lenses.fn_recount(boolean) is
  'Recounts what conditions (lenses.run_counts) and quotas (lenses.lenser_usage) keep count '
  'of, and recomputes the limits of schedules: after rows were written with triggers disabled, as '
  'by session_replication_role = replica. Safe at any time. p_if_none: only where nothing is '
  'counted yet.';
