-- The rooms. Plain `create schema`: one of that name that is there already is somebody else's, and a clear refusal.

create schema lensers authorization lf_sql_owner;
create schema lenses authorization lf_sql_owner;
create schema agents authorization lf_sql_owner;
create schema automation authorization lf_sql_owner;

comment on schema lensers is 'lf-sql: who is calling';
comment on schema lenses is 'lf-sql: workflows, schedules, calendars, runs, ticks; the cron language; the dispatcher';
comment on schema agents is 'lf-sql: who executes and who may; the audit log; gateways';
comment on schema automation is 'lf-sql: the filter language';
