-- The functions of executors take the attempt that they speak of; failing one books its credits too.
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_heartbeat_workflow_run(uuid, text, interval);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_append_run_event(uuid, text, text, jsonb);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_complete_workflow_run(uuid, text, jsonb, numeric);
-- squawk-ignore ban-drop-function
drop function if exists lenses.fn_fail_workflow_run(uuid, text, text, text);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_heartbeat_workflow_run(uuid, text, interval);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_append_run_event(uuid, text, text, jsonb);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_complete_workflow_run(uuid, text, jsonb, numeric);
-- squawk-ignore ban-drop-function
drop function if exists public.fn_fail_workflow_run(uuid, text, text, text);
