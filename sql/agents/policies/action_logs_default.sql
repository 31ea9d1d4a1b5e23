-- No request role reads a partition by its own name: clients read agents.action_logs. The purge
-- deletes here what lies in no day's partition.

alter table agents.action_logs_default enable row level security;
alter table agents.action_logs_default force row level security;

drop policy if exists action_logs_default_engine_all on agents.action_logs_default;
create policy action_logs_default_engine_all on agents.action_logs_default
to lf_sql_engine
using (true)
with check (true);
