-- No request role reads a partition by its own name: clients read agents.agent_run_events. The
-- purge deletes here what lies in no day's partition.

alter table agents.agent_run_events_default enable row level security;
alter table agents.agent_run_events_default force row level security;

drop policy if exists agent_run_events_default_engine_all on agents.agent_run_events_default;
create policy agent_run_events_default_engine_all on agents.agent_run_events_default
to lf_sql_engine
using (true)
with check (true);
