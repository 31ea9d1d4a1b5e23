-- What automation did: one item for each run that a schedule dispatched. Row security of the tables
-- leaves a tenant its own rows.
create or replace view agents.automation_feed with (security_invoker = true) as
select
  r.id,
  r.lenser_id,
  'schedule_dispatch'::text as kind,
  coalesce(
    r.schedule_id,
    case
      when r.triggered_by ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then r.triggered_by::uuid
    end
  ) as schedule_id,
  r.workflow_id,
  w.title as workflow_title,
  r.id as run_id,
  r.status,
  t.approval_status,
  r.scheduled_for,
  r.trigger_mode,
  coalesce(r.metadata -> 'missed', 'false') <> 'false' as is_missed,
  r.ai_lenser_id,
  r.team_id,
  r.spent_credits,
  r.created_at as occurred_at,
  r.completed_at,
  case when s.id is not null
    then lenses.fn_schedule_label(s.name, s.description, w.title) end as schedule
from lenses.workflow_runs as r
inner join lenses.workflows as w on w.id = r.workflow_id and w.lenser_id = r.lenser_id
left join lenses.workflow_schedules as s on s.id = r.schedule_id and s.lenser_id = r.lenser_id
left join agents.team_runs as t on t.workflow_run_id = r.id and t.lenser_id = r.lenser_id
where r.trigger_mode in ('schedule', 'backfill');

comment on view agents.automation_feed is
  'Items of the automation feed: kind schedule_dispatch, a run that a schedule dispatched.';
comment on column agents.automation_feed.schedule_id is 'Stays when the schedule is deleted.';
comment on column agents.automation_feed.schedule is
  'Its name, else its description, else its workflow''s title; NULL once it is deleted.';
comment on column agents.automation_feed.status is 'The run''s status.';
comment on column agents.automation_feed.is_missed is 'The slot was late, and onMissed had it run.';
comment on column agents.automation_feed.occurred_at is 'When the run was dispatched.';
