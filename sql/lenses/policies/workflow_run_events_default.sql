-- No request role reads a partition by its own name: clients read lenses.workflow_run_events. The
-- purge deletes here what lies in no day's partition.

alter table lenses.workflow_run_events_default enable row level security;
alter table lenses.workflow_run_events_default force row level security;

drop policy if exists workflow_run_events_default_engine_all on lenses.workflow_run_events_default;
create policy workflow_run_events_default_engine_all on lenses.workflow_run_events_default
to lf_sql_engine
using (true)
with check (true);
