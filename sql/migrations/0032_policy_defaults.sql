-- squawk-ignore-file ban-drop-default, constraint-missing-not-valid
-- A policy that a schedule or an assignment leaves out is told from one that is spelled out as its default
-- is: a NULL is filled by the table's trigger, and explicit_defaults names what was spelled out. Rows of
-- before name none: a policy that is its default was left out. None of them is rewritten.
alter table lenses.workflow_schedules
  add column explicit_defaults text[] not null default '{}';
alter table agents.workflow_assignments
  add column explicit_defaults text[] not null default '{}';

alter table lenses.workflow_schedules
  alter column explicit_defaults drop default,
  alter column approval_policy drop default,
  alter column retry_policy drop default,
  alter column failure_policy drop default,
  alter column queue_policy drop default;
alter table agents.workflow_assignments
  alter column explicit_defaults drop default,
  alter column approval_policy drop default,
  alter column retry_policy drop default,
  alter column failure_policy drop default,
  alter column queue_policy drop default;

comment on column lenses.workflow_schedules.explicit_defaults is 'Policies that were spelled out as their default is. A policy that is its default and not named here was left out: its assignment''s and the server''s defaults hold.';
comment on column agents.workflow_assignments.explicit_defaults is 'Policies that were spelled out as their default is; the others that are their default were left out.';
comment on table agents.workflow_assignments is 'Who works on a workflow. Its policies are defaults, key by key, for what the schedules that go by it leave out; its approval adds to theirs.';
comment on column lenses.workflow_schedules.max_in_flight is 'Limit of runs in flight that queue_policy means, with what the assignment and the server add; NULL: none.';
comment on column lenses.workflow_schedules.on_overlap is 'onOverlap of queue_policy or of its assignment, or what follows from them; NULL: dispatch_settings.default_on_overlap.';
comment on column lenses.workflow_schedules.on_missed is 'onMissed of queue_policy or of its assignment; NULL: dispatch_settings.default_on_missed.';

alter table lenses.dispatch_settings
  add column default_queue_mode text not null default 'parallel';
alter table lenses.dispatch_settings add constraint dispatch_settings_default_queue_mode_check
  check (default_queue_mode in ('parallel', 'serial')) not valid;
alter table lenses.dispatch_settings
  validate constraint dispatch_settings_default_queue_mode_check;
comment on column lenses.dispatch_settings.default_queue_mode is 'queue_policy.mode of schedules that leave it out, as their assignment does.';
