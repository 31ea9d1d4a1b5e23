-- Refuses to write due rows by hand: they follow their schedules. The trigger lets through
-- lf_sql_engine and roles that may act as lf_sql_owner, who restore dumps.
create or replace function lenses.tg_schedule_due_guard()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '42501',
    message = format(
      'the due row of schedule "%s" is not written by hand: it follows its schedule',
      new.schedule_id),
    hint = 'Write next_run_at or due_at of lenses.workflow_schedules.';
end;
$$;

comment on function lenses.tg_schedule_due_guard() is
  'Refuses (42501) to write rows of lenses.schedule_due by hand.';
