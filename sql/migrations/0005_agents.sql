-- Who executes and who may: agents, teams, budgets, assignments.
create table agents.ai_lensers (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  name text not null default '',
  created_at timestamptz not null default now(),
  constraint ai_lensers_pkey primary key (id),
  constraint ai_lensers_id_lenser_id_key unique (id, lenser_id),
  constraint ai_lensers_lenser_id_fkey foreign key (lenser_id) references lensers.profiles (id),
  constraint ai_lensers_name_check check (char_length(name) <= 200)
);

create index ai_lensers_lenser_id_idx on agents.ai_lensers (lenser_id);
comment on table agents.ai_lensers is 'Agents that can be assigned to a schedule.';

create table agents.teams (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  name text not null default '',
  created_at timestamptz not null default now(),
  constraint teams_pkey primary key (id),
  constraint teams_id_lenser_id_key unique (id, lenser_id),
  constraint teams_lenser_id_fkey foreign key (lenser_id) references lensers.profiles (id),
  constraint teams_name_check check (char_length(name) <= 200)
);

create index teams_lenser_id_idx on agents.teams (lenser_id);
comment on table agents.teams is 'Teams of agents that can be assigned to a schedule.';

create table agents.team_members (
  team_id uuid not null,
  ai_lenser_id uuid not null,
  lenser_id uuid not null,
  role text not null default 'member',
  created_at timestamptz not null default now(),
  constraint team_members_pkey primary key (team_id, ai_lenser_id),
  constraint team_members_team_id_lenser_id_fkey foreign key (team_id, lenser_id)
    references agents.teams (id, lenser_id) on delete cascade,
  constraint team_members_ai_lenser_id_lenser_id_fkey foreign key (ai_lenser_id, lenser_id)
    references agents.ai_lensers (id, lenser_id) on delete cascade,
  constraint team_members_role_check check (char_length(role) between 1 and 100)
);

create index team_members_team_id_lenser_id_idx on agents.team_members (team_id, lenser_id);
create index team_members_ai_lenser_id_lenser_id_idx
  on agents.team_members (ai_lenser_id, lenser_id);
create index team_members_lenser_id_idx on agents.team_members (lenser_id);
comment on table agents.team_members is 'Which agents make up a team. A team is over budget when a member is.';

create table agents.policies (
  ai_lenser_id uuid not null,
  lenser_id uuid not null,
  spending_limit_credits numeric(18, 4),
  max_daily_battles integer,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint policies_pkey primary key (ai_lenser_id),
  constraint policies_ai_lenser_id_lenser_id_fkey foreign key (ai_lenser_id, lenser_id)
    references agents.ai_lensers (id, lenser_id) on delete cascade,
  constraint policies_spending_limit_credits_check check (spending_limit_credits >= 0),
  constraint policies_max_daily_battles_check check (max_daily_battles >= 0)
);

create index policies_ai_lenser_id_lenser_id_idx on agents.policies (ai_lenser_id, lenser_id);
create index policies_lenser_id_idx on agents.policies (lenser_id);
comment on table agents.policies is 'Limits of an agent, by UTC day. NULL is no limit; reached is exceeded.';
comment on column agents.policies.spending_limit_credits is 'Credits the agent''s runs may spend a UTC day; caps a single run too (runs carry it in policies.limits).';
comment on column agents.policies.max_daily_battles is 'Runs of kind battle a UTC day, cancelled ones not counted.';

create table agents.workflow_assignments (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  workflow_id uuid not null,
  assignee_type text not null,
  assignee_id uuid not null,
  autonomy_level text not null default 'supervised',
  approval_policy jsonb not null default '{"requiresApproval":true}',
  retry_policy jsonb not null default '{"maxRetries":1}',
  failure_policy jsonb not null default '{"mode":"isolate"}',
  queue_policy jsonb not null default '{"mode":"parallel"}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint workflow_assignments_pkey primary key (id),
  constraint workflow_assignments_id_lenser_id_key unique (id, lenser_id),
  constraint workflow_assignments_workflow_id_lenser_id_fkey foreign key (workflow_id, lenser_id)
    references lenses.workflows (id, lenser_id) on delete cascade,
  constraint workflow_assignments_assignee_type_check check (assignee_type in ('agent', 'team')),
  constraint workflow_assignments_autonomy_level_check
    check (char_length(autonomy_level) between 1 and 100)
);

create index workflow_assignments_workflow_id_lenser_id_idx
  on agents.workflow_assignments (workflow_id, lenser_id);
create index workflow_assignments_lenser_id_idx on agents.workflow_assignments (lenser_id);
comment on table agents.workflow_assignments is 'Who works on a workflow, with policies of its own; its approval gates add to a schedule''s.';
