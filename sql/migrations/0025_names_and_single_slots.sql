-- squawk-ignore-file require-concurrent-index-creation
-- Schedules have names, one slot at run_at instead of a rule where they are once, and may move their slots
-- off the closed dates of their calendar.
alter table lenses.workflow_schedules add column name text;
alter table lenses.workflow_schedules add column run_at timestamptz;
alter table lenses.workflow_schedules add column on_holiday text not null default 'skip';

create unique index workflow_schedules_lenser_id_name_idx
  on lenses.workflow_schedules (lenser_id, name) where name is not null;

comment on column lenses.workflow_schedules.name is 'What people call the schedule; unique within the tenant, at most 200 characters; NULL: it has none.';
comment on column lenses.workflow_schedules.run_at is 'The one slot of a schedule of type once, cut to the minute.';
comment on column lenses.workflow_schedules.on_holiday is 'What becomes of a slot on a date that the calendar closes: skip, or before and after: it moves at its wall-clock time to the nearest open date.';

drop function if exists public.fn_upsert_workflow_schedule(
  uuid, uuid, text, text, text, jsonb, boolean, text, uuid, uuid, jsonb, jsonb, jsonb, jsonb, text,
  text, bigint, timestamptz, timestamptz, integer, uuid, jsonb, jsonb, integer);
drop function if exists lenses.fn_schedule_status(boolean, timestamptz);
drop function if exists lenses.fn_schedule_describe(text, bigint);

comment on index lenses.workflow_schedules_lenser_id_name_idx is 'Keeps names unique within a tenant; look-ups by name.';
