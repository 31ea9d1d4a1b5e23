-- Functions with other arguments now; their sources make them anew.
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_log_edited(lenses.workflow_schedules, timestamptz);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_count_places(timestamptz);
