-- Ticks are quicker: decisions carry what the log and onOverlap replace would look up again, and the
-- insert of runs does not look for runs of its slots unless it is told to.
alter type lenses.slot_decision
  add attribute lenser_id uuid,
  add attribute is_movable boolean,
  add attribute is_replacing boolean;

comment on type lenses.slot_decision is 'A judged slot. decision: dispatch, skip, defer, or wait (left for the next pass of the same tick). inputs are a preview''s, or those given by hand; NULL: the entry rotation_index of the schedule''s rotation, or its template, of at most inputs_bytes. is_movable: a calendar may move slots of the schedule. is_replacing: onOverlap is replace.';

-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_insert_runs(lenses.slot_decision[], timestamptz, text, text);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_insert_run_batch(
  lenses.slot_decision[], timestamptz, text, text);
