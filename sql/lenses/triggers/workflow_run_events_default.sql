-- The guards of its rows come from lenses.workflow_run_events; no partition inherits one on
-- TRUNCATE.

create or replace trigger workflow_run_events_refuse_truncate
before truncate on lenses.workflow_run_events_default
for each statement
execute function lenses.tg_append_only();

alter table lenses.workflow_run_events_default
enable always trigger workflow_run_events_refuse_truncate;
