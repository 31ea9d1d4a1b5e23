-- Functions that have other names now; their sources make them anew.
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_lock_battles(uuid[], boolean);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_know_timezone(text);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_tell_schedule(uuid, jsonb, timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_settle_conflicts(lenses.slot_decision[], timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_nearest(text, text[]);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_open_tick(text, timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_dispatch_isolating(uuid[], bigint, timestamptz, integer, integer);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_cron_next_after_turn(lenses.cron_spec, text, timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_check_schedule(lenses.workflow_schedules, lenses.workflow_schedules);
