-- job: dispatch-scheduled-workflows-@lane@
-- schedule: * * * * *
-- requires: lenses.sp_dispatch_tick
-- lanes: 2-16
-- The same for each further lane (dispatch_settings.dispatch_lanes). '@lane@' is its number.

call lenses.sp_dispatch_tick('@lane@');
