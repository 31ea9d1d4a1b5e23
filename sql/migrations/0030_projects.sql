-- squawk-ignore-file constraint-missing-not-valid
-- Which project's file made a schedule, workflow or calendar: only those does the project take away again.
alter table lenses.schedule_calendars add column project text;
alter table lenses.workflows add column project text;
alter table lenses.workflow_schedules add column project text;

alter table lenses.schedule_calendars add constraint schedule_calendars_project_check
  check (char_length(project) between 1 and 200 and project !~ '[[:cntrl:]]') not valid;
alter table lenses.schedule_calendars validate constraint schedule_calendars_project_check;
alter table lenses.workflows add constraint workflows_project_check
  check (char_length(project) between 1 and 200 and project !~ '[[:cntrl:]]') not valid;
alter table lenses.workflows validate constraint workflows_project_check;
alter table lenses.workflow_schedules add constraint workflow_schedules_project_check
  check (char_length(project) between 1 and 200 and project !~ '[[:cntrl:]]') not valid;
alter table lenses.workflow_schedules validate constraint workflow_schedules_project_check;

comment on column lenses.schedule_calendars.project is 'Whose file made it (lf-sql apply); NULL: made by hand.';
comment on column lenses.workflows.project is 'Whose file made it (lf-sql apply); NULL: made by hand.';
comment on column lenses.workflow_schedules.project is 'Whose file made it (lf-sql apply); NULL: made by hand.';
