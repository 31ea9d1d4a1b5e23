-- For the directory of cells: one row of figures about this cell.
create or replace view lenses.cell_health
with (security_invoker = true) as
select
  d.is_frozen,
  d.frozen_reason,
  (select max(t.started_at) from lenses.dispatch_ticks as t) as last_tick_at,
  (select count(*) from lensers.profiles as p where p.departed_at is null) as tenants,
  (select count(*) from lensers.profiles as p where p.departed_at is not null) as departed_tenants,
  (select count(*) from lenses.schedule_due as q where q.due_at is not null) as active_schedules,
  (
    select count(*) from lenses.schedule_due as q
    where q.due_at < clock_timestamp() - interval '3 minutes'
  ) as overdue_schedules,
  (
    select count(*) from lenses.workflow_runs as r
    where r.status in ('pending_approval', 'pending')
  ) as waiting_runs,
  (select count(*) from lenses.workflow_runs as r where r.status = 'running') as running_runs,
  (select count(*) from lenses.outbox as o where o.dead_at is null) as events
from lenses.dispatch_settings as d;

comment on view lenses.cell_health is
  'For the directory of cells: whether this cell ticks, and how much is due, waiting and running.';
