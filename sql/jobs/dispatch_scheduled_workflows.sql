-- job: dispatch-scheduled-workflows
-- requires: lenses.sp_dispatch_tick
-- The heartbeat: one tick a minute. Zones, daylight saving, catch-up and everything else is the tick's own affair.

select cron.schedule('dispatch-scheduled-workflows', '* * * * *', 'call lenses.sp_dispatch_tick()');
