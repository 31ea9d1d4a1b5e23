-- What one call may hold: decisions carry where inputs come from and how large they are, not the inputs.
alter type lenses.slot_decision add attribute inputs_bytes integer;

comment on type lenses.slot_decision is 'A judged slot. decision: dispatch, skip, defer, or wait (left for the next pass of the same tick). inputs are a preview''s, or those given by hand; NULL: the entry rotation_index of the schedule''s rotation, or its template, of at most inputs_bytes.';

-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_insert_runs(lenses.slot_decision[], timestamptz, text, text);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_lock_battles(uuid[]);
