-- Workflows and every version of their definitions.
create table lenses.workflows (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  title text not null default '',
  kind text not null default 'workflow',
  status text not null default 'active',
  trigger_type text not null default 'manual',
  version integer not null default 1,
  definition jsonb not null default '{"nodes":[],"edges":[]}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint workflows_pkey primary key (id),
  constraint workflows_id_lenser_id_key unique (id, lenser_id),
  constraint workflows_lenser_id_fkey foreign key (lenser_id) references lensers.profiles (id),
  constraint workflows_title_check check (char_length(title) <= 500),
  constraint workflows_kind_check check (kind in ('workflow', 'battle')),
  constraint workflows_status_check check (status in ('active', 'paused', 'deprecated', 'deleted')),
  constraint workflows_trigger_type_check check (trigger_type in ('manual', 'schedule')),
  constraint workflows_version_check check (version >= 1)
);

create index workflows_lenser_id_created_at_idx on lenses.workflows (lenser_id, created_at);

comment on table lenses.workflows is 'Graphs of steps that schedules start. We keep time and start runs; executors run the steps.';
comment on column lenses.workflows.kind is 'workflow, or battle: battles are held against agents.policies.max_daily_battles.';
comment on column lenses.workflows.status is 'Only an active workflow is dispatched; another status uses its slots up; deleted removes its schedules.';
comment on column lenses.workflows.trigger_type is 'schedule while the workflow has a schedule, active or not; else manual.';
comment on column lenses.workflows.version is 'Counts up with each change of the definition.';
comment on column lenses.workflows.definition is '{"nodes":[{"id","action"?}],"edges":[{"from","to"}],"triggers":[…]?}';

create table lenses.workflow_versions (
  workflow_id uuid not null,
  version integer not null,
  lenser_id uuid not null,
  definition jsonb not null,
  node_actions text[] not null default '{}',
  cycle text[],
  created_at timestamptz not null default now(),
  constraint workflow_versions_pkey primary key (workflow_id, version),
  constraint workflow_versions_workflow_id_lenser_id_fkey foreign key (workflow_id, lenser_id)
    references lenses.workflows (id, lenser_id) on delete cascade
);

create index workflow_versions_workflow_id_lenser_id_idx
  on lenses.workflow_versions (workflow_id, lenser_id);
create index workflow_versions_lenser_id_idx on lenses.workflow_versions (lenser_id);

comment on table lenses.workflow_versions is 'Every definition a workflow had. Rows never change: what was approved stays what it was.';
comment on column lenses.workflow_versions.node_actions is 'Distinct actions of the nodes; approval gates are looked up here.';
comment on column lenses.workflow_versions.cycle is 'Node ids of one cycle, the first repeated at the end; NULL: the graph is acyclic.';
