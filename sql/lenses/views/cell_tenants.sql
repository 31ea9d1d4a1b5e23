-- For the directory of cells: who lives here, and who has left for which cell. No payloads.
create or replace view lenses.cell_tenants
with (security_invoker = true) as
select
  p.id as lenser_id,
  p.user_id,
  p.handle,
  p.created_at,
  p.departed_at,
  p.departed_to,
  coalesce(u.schedules, 0) as schedules,
  coalesce(u.gateway_crons, 0) as gateway_crons
from lensers.profiles as p
left join lenses.lenser_usage as u on u.lenser_id = p.id;

comment on view lenses.cell_tenants is
  'For the directory of cells: tenants of this cell, and where those live who have left.';
