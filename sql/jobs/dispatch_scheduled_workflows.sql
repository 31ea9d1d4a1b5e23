-- job: dispatch-scheduled-workflows
-- schedule: * * * * *
-- requires: lenses.sp_dispatch_tick
-- The heartbeat: one tick a minute. Zones, daylight saving, catch-up and everything else is the tick's own affair.

call lenses.sp_dispatch_tick();
