-- job: dispatch-scheduled-workflows
-- schedule: * * * * *
-- requires: lenses.sp_dispatch_tick
-- The heartbeat: one tick a minute. The tick itself handles zones, daylight saving, catch-up and
-- everything else.

call lenses.sp_dispatch_tick();
