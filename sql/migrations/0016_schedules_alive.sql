-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid, adding-field-with-default
-- What a schedule without a next slot waits for, and which ticks a wrong clock made.
alter table lenses.schedule_due
  add column awaits_zone text,
  add constraint schedule_due_awaits_zone_check check (char_length(awaits_zone) <= 200);
create index schedule_due_awaits_zone_idx on lenses.schedule_due (awaits_zone)
  where awaits_zone is not null;

comment on column lenses.schedule_due.awaits_zone is 'The zone that the server has lost, without which the schedule''s next slot cannot be computed; the tick revives it once the zone is back.';

alter table lenses.dispatch_ticks add column undone_at timestamptz;

comment on column lenses.dispatch_ticks.undone_at is 'Set where the tick came by a clock that was ahead: since then what it put off is in its right place again.';

create index gateway_crons_timezone_idx on agents.gateway_crons (timezone)
  where is_active and next_run_at is null;

-- Active schedules without a next slot: the first tick looks at each. One that is finished stays so.
update lenses.schedule_due as d
set awaits_zone = s.timezone
from lenses.workflow_schedules as s
where s.id = d.schedule_id and s.lenser_id = d.lenser_id
  and s.is_active and s.next_run_at is null and char_length(s.timezone) <= 200;

comment on index lenses.schedule_due_awaits_zone_idx is 'Schedules that wait for a lost zone (fn_revive_schedules).';
comment on index agents.gateway_crons_timezone_idx is 'Gateway crons without a next slot, by zone (fn_revive_gateway_crons).';
