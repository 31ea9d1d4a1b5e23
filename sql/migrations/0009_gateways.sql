-- Gateways and their own crons, dispatched by the same tick.
create table agents.gateways (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  name text not null,
  endpoint text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint gateways_pkey primary key (id),
  constraint gateways_id_lenser_id_key unique (id, lenser_id),
  constraint gateways_lenser_id_fkey foreign key (lenser_id) references lensers.profiles (id),
  constraint gateways_name_check check (char_length(name) between 1 and 200),
  constraint gateways_endpoint_check check (char_length(endpoint) <= 2000)
);

create index gateways_lenser_id_idx on agents.gateways (lenser_id);
comment on table agents.gateways is 'Gateways: runtimes of a tenant that declare health and maintenance jobs of their own.';

create table agents.gateway_crons (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  gateway_id uuid not null,
  operation text not null,
  cron_expr text not null,
  timezone text not null default 'UTC',
  payload jsonb not null default '{}',
  is_active boolean not null default true,
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_status text,
  cron_spec lenses.cron_spec,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint gateway_crons_pkey primary key (id),
  constraint gateway_crons_id_lenser_id_key unique (id, lenser_id),
  constraint gateway_crons_gateway_id_lenser_id_fkey foreign key (gateway_id, lenser_id)
    references agents.gateways (id, lenser_id) on delete cascade,
  constraint gateway_crons_operation_check check (operation ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,62}$')
);

create index gateway_crons_gateway_id_lenser_id_idx
  on agents.gateway_crons (gateway_id, lenser_id);
create index gateway_crons_lenser_id_idx on agents.gateway_crons (lenser_id);
create index gateway_crons_next_run_at_idx on agents.gateway_crons (next_run_at)
  where is_active and next_run_at is not null;
comment on table agents.gateway_crons is 'Crons of a gateway: capability_refresh, health_probe, maintenance_window or an operation of its own.';
comment on column agents.gateway_crons.next_run_at is 'The next slot (UTC instant); stays to be seen while inactive.';
comment on column agents.gateway_crons.last_status is 'Status of the newest gateway_cron_runs row; dispatch_failed or validation_failed where none could be made.';

create table agents.gateway_cron_runs (
  id uuid not null default gen_random_uuid(),
  lenser_id uuid not null,
  gateway_id uuid not null,
  gateway_cron_id uuid,
  operation text not null,
  scheduled_for timestamptz,
  payload jsonb not null default '{}',
  status text not null default 'pending',
  worker_id text,
  lease_expires_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  result jsonb,
  error text,
  created_at timestamptz not null default now(),
  constraint gateway_cron_runs_pkey primary key (id),
  constraint gateway_cron_runs_gateway_cron_id_scheduled_for_key
    unique (gateway_cron_id, scheduled_for),
  constraint gateway_cron_runs_gateway_id_lenser_id_fkey foreign key (gateway_id, lenser_id)
    references agents.gateways (id, lenser_id) on delete cascade,
  constraint gateway_cron_runs_gateway_cron_id_lenser_id_fkey
    foreign key (gateway_cron_id, lenser_id)
    references agents.gateway_crons (id, lenser_id) on delete set null (gateway_cron_id),
  constraint gateway_cron_runs_status_check check (status in (
    'pending', 'running', 'completed', 'failed', 'cancelled', 'timed_out')),
  constraint gateway_cron_runs_lease_check
    check (status <> 'running' or (worker_id is not null and lease_expires_at is not null))
);

create index gateway_cron_runs_gateway_id_lenser_id_created_at_idx
  on agents.gateway_cron_runs (gateway_id, lenser_id, created_at);
create index gateway_cron_runs_gateway_cron_id_lenser_id_idx
  on agents.gateway_cron_runs (gateway_cron_id, lenser_id);
create index gateway_cron_runs_lenser_id_idx on agents.gateway_cron_runs (lenser_id);
create index gateway_cron_runs_claim_idx on agents.gateway_cron_runs (created_at, id)
  where status = 'pending';
create index gateway_cron_runs_lease_expires_at_idx
  on agents.gateway_cron_runs (lease_expires_at) where status = 'running';
comment on table agents.gateway_cron_runs is 'Due gateway crons, once for the newest slot, for the gateway''s runtime to claim and complete.';
