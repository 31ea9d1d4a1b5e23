-- An edit's log takes the instant up to which slots are given up apart from the instant of the edit.
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_log_edited(lenses.workflow_schedules, timestamptz);
