-- lenses.fn_calendar_barrier takes its place: it says how far away closed dates matter.
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_is_closed_near(uuid, timestamptz);
