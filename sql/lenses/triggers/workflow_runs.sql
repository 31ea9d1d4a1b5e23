-- The guards of a run for every path, in every replication mode. The WHEN clauses see the caller
-- and decide whom to trust, because the functions themselves run as their owner. A transition by
-- lf_sql_engine that has numbered its event itself is that of a claim or a completion, which writes
-- the event, and passes.

create or replace trigger workflow_runs_admit
before insert on lenses.workflow_runs
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_workflow_runs_admit();

create or replace trigger workflow_runs_record
after insert on lenses.workflow_runs
referencing new table as new_runs
for each statement
execute function lenses.tg_workflow_runs_record();

create or replace trigger workflow_runs_guard_engine
before update on lenses.workflow_runs
for each row
when (
  current_user = 'lf_sql_engine' and old.status <> new.status
  and old.last_event_seq = new.last_event_seq
)
execute function lenses.tg_workflow_runs_guard('engine');

create or replace trigger workflow_runs_guard_other
before update on lenses.workflow_runs
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_workflow_runs_guard('other');

alter table lenses.workflow_runs enable always trigger workflow_runs_admit;
alter table lenses.workflow_runs enable always trigger workflow_runs_record;
alter table lenses.workflow_runs enable always trigger workflow_runs_guard_engine;
alter table lenses.workflow_runs enable always trigger workflow_runs_guard_other;

-- The counts of conditions. Silent where triggers are (a restore brings the counts along); what
-- that leaves wrong lenses.fn_invariant_violations finds, and lenses.fn_recount repairs.
create or replace trigger workflow_runs_count_insert
after insert on lenses.workflow_runs
referencing new table as new_rows
for each statement
execute function lenses.tg_workflow_runs_count();

create or replace trigger workflow_runs_count_delete
after delete on lenses.workflow_runs
referencing old table as old_rows
for each statement
execute function lenses.tg_workflow_runs_uncount();

create or replace trigger workflow_runs_count_truncate
after truncate on lenses.workflow_runs
for each statement
execute function lenses.tg_workflow_runs_uncount();

create or replace trigger workflow_runs_count_end
after update on lenses.workflow_runs
for each row
when (old.status <> new.status and new.status <> 'running')
execute function lenses.tg_workflow_runs_count_end();

create or replace trigger workflow_runs_quota
after insert on lenses.workflow_runs
referencing new table as new_rows
for each statement
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_workflow_runs_quota();

alter table lenses.workflow_runs enable always trigger workflow_runs_quota;

create or replace trigger workflow_runs_tenant_here
before insert or update on lenses.workflow_runs
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.workflow_runs enable always trigger workflow_runs_tenant_here;

create or replace trigger workflow_runs_tenant_held
before insert on lenses.workflow_runs
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.workflow_runs enable always trigger workflow_runs_tenant_held;
