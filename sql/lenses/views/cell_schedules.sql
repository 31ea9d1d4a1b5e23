-- For the directory of cells: the schedules of tenants who live here. No payloads.
create or replace view lenses.cell_schedules
with (security_invoker = true) as
select
  s.lenser_id,
  s.id as schedule_id,
  s.workflow_id,
  s.name,
  s.project,
  s.is_active,
  s.paused_at,
  s.next_run_at,
  s.due_at,
  s.last_run_at,
  s.last_dispatch_status
from lenses.workflow_schedules as s
inner join lensers.profiles as p on p.id = s.lenser_id and p.departed_at is null;

comment on view lenses.cell_schedules is
  'For the directory of cells: schedules of tenants who live in this cell, without their inputs.';
