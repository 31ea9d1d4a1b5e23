-- Where runs are posted and events go, what waits for that, and what has been asked of pg_net.
create table lenses.deliveries (
  name text not null,
  url text,
  sends text[] not null default '{runs}',
  workflow_id uuid,
  headers jsonb not null default '{}',
  secret_name text,
  is_active boolean not null default true,
  max_in_flight integer not null default 50,
  timeout_ms integer not null default 30000,
  lease_ms integer not null default 300000,
  max_attempts integer not null default 10,
  max_events integer not null default 10000,
  posted_at timestamptz,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  dropped bigint not null default 0,
  failures integer not null default 0,
  last_delivered_at timestamptz,
  last_error_at timestamptz,
  last_error text,
  problem text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint deliveries_pkey primary key (name),
  constraint deliveries_workflow_id_fkey foreign key (workflow_id)
    references lenses.workflows (id) on delete cascade,
  constraint deliveries_name_check
    check (name ~ '[^[:space:]]' and name !~ '[[:cntrl:]]' and char_length(name) <= 100),
  constraint deliveries_url_check check (url ~ '^https?://[^[:space:]]+$' and char_length(url) <= 2000),
  constraint deliveries_sends_check check (
    cardinality(sends) between 1 and 7
    and sends <@ array[
      'runs', 'run.failed', 'run.timed_out', 'schedule.missed', 'schedule.halted',
      'approval.waiting', 'schedule.dispatch_failed']
    and (url is not null or not sends @> '{runs}')),
  constraint deliveries_headers_check
    check (jsonb_typeof(headers) = 'object' and octet_length(headers::text) <= 16384),
  constraint deliveries_secret_name_check check (char_length(secret_name) between 1 and 200),
  constraint deliveries_max_in_flight_check check (max_in_flight between 1 and 1000),
  constraint deliveries_timeout_ms_check check (timeout_ms between 100 and 3600000),
  constraint deliveries_lease_ms_check check (lease_ms between 1000 and 86400000),
  constraint deliveries_max_attempts_check check (max_attempts between 1 and 100),
  constraint deliveries_max_events_check check (max_events between 1 and 1000000),
  constraint deliveries_problem_check check (char_length(problem) <= 2000),
  constraint deliveries_last_error_check check (char_length(last_error) <= 2000)
);
create index deliveries_workflow_id_idx on lenses.deliveries (workflow_id);

comment on table lenses.deliveries is 'Endpoints that runs are posted to and consumers of events, named by operators alone: lenses.fn_set_delivery.';
comment on column lenses.deliveries.url is 'Where the tick''s job posts, by pg_net; NULL: nothing is posted, a consumer claims by lenses.fn_claim_events.';
comment on column lenses.deliveries.sends is 'What goes there: runs, run.failed, run.timed_out, schedule.missed, schedule.halted, approval.waiting, schedule.dispatch_failed.';
comment on column lenses.deliveries.workflow_id is 'Of this workflow alone; NULL: of all, runs of those apart that have an active delivery of their own.';
comment on column lenses.deliveries.headers is 'Headers of each request. They stand in clear here and, while a request waits, in pg_net''s queue.';
comment on column lenses.deliveries.secret_name is 'Name of the secret that signs: in vault.secrets where there is one, else in lenses.delivery_secrets; NULL: nothing is signed.';
comment on column lenses.deliveries.max_in_flight is 'Requests without an answer at most; one while an endpoint has failed five times in a row.';
comment on column lenses.deliveries.timeout_ms is 'How long an answer may take.';
comment on column lenses.deliveries.lease_ms is 'How long a run or event waits before a request without an answer counts as lost.';
comment on column lenses.deliveries.max_attempts is 'Tries of an event before it is a dead letter; runs follow their own retry_policy.';
comment on column lenses.deliveries.max_events is 'Events that may wait; beyond it the oldest become dead letters. Dead letters beyond it are dropped, the oldest first.';
comment on column lenses.deliveries.dropped is 'Dead letters that max_events has dropped in all.';
comment on column lenses.deliveries.problem is 'Why nothing can be posted, as the last tick found it; NULL: it can.';
comment on column lenses.deliveries.failures is 'Requests that failed since the last that did not.';

create table lenses.delivery_secrets (
  name text not null,
  secret text not null,
  updated_at timestamptz not null default now(),
  constraint delivery_secrets_pkey primary key (name),
  constraint delivery_secrets_name_check check (char_length(name) between 1 and 200),
  constraint delivery_secrets_secret_check check (char_length(secret) <= 400)
);

comment on table lenses.delivery_secrets is 'Secrets that sign requests, where there is no vault. Written by lenses.fn_set_delivery_secret, read by lf_sql_engine alone.';

create table lenses.outbox (
  id bigint generated always as identity,
  event_id uuid not null,
  delivery text not null,
  lenser_id uuid not null,
  event_type text not null,
  order_key uuid not null,
  payload jsonb not null,
  attempt integer not null default 0,
  available_at timestamptz,
  worker_id text,
  lease_expires_at timestamptz,
  last_error text,
  dead_at timestamptz,
  created_at timestamptz not null default now(),
  constraint outbox_pkey primary key (id),
  constraint outbox_delivery_fkey foreign key (delivery)
    references lenses.deliveries (name) on delete cascade,
  constraint outbox_event_type_check check (char_length(event_type) between 1 and 200),
  constraint outbox_last_error_check check (char_length(last_error) <= 2000),
  constraint outbox_lease_check check ((worker_id is null) = (lease_expires_at is null))
);
create index outbox_order_idx on lenses.outbox (delivery, order_key, id);
create index outbox_live_idx on lenses.outbox (delivery, id) where dead_at is null;
create index outbox_dead_idx on lenses.outbox (delivery, id) where dead_at is not null;

comment on table lenses.outbox is 'Events on their way, a row an event and delivery, gone once acknowledged. No foreign key to what they tell of.';
comment on column lenses.outbox.event_id is 'The same for every delivery and every attempt: receivers drop duplicates by it.';
comment on column lenses.outbox.order_key is 'The schedule, else the run: events with one key go one after the other.';
comment on column lenses.outbox.available_at is 'Not before; NULL: at once.';
comment on column lenses.outbox.dead_at is 'A dead letter since: max_attempts are used up, or max_events was passed. lenses.fn_retry_dead_events sends it again.';

-- Unlogged, as pg_net's own tables are: a crash empties both, so that a request that was numbered
-- before it is never taken for one that got the same number afterwards.
create unlogged table lenses.delivery_requests (
  request_id bigint not null,
  delivery text not null,
  key text not null,
  run_id uuid,
  outbox_id bigint,
  attempt integer not null,
  queue_oid oid not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  constraint delivery_requests_pkey primary key (request_id),
  constraint delivery_requests_delivery_fkey foreign key (delivery)
    references lenses.deliveries (name) on delete cascade,
  constraint delivery_requests_one_check check ((run_id is null) <> (outbox_id is null)),
  constraint delivery_requests_key_check check (char_length(key) <= 100)
);
create index delivery_requests_delivery_idx on lenses.delivery_requests (delivery);

comment on table lenses.delivery_requests is 'Requests that pg_net was asked for and has not answered, by its number of them. Losing a row costs a lease, no run.';
comment on column lenses.delivery_requests.key is 'The request''s webhook-id.';
comment on column lenses.delivery_requests.queue_oid is 'pg_net''s queue as it was then: one made anew numbers anew.';
comment on column lenses.delivery_requests.sent_at is 'Beginning of the transaction that asked; no answer is older.';
comment on column lenses.delivery_requests.expires_at is 'End of the lease: an answer that comes later decides nothing.';

comment on index lenses.deliveries_workflow_id_idx is 'Deliveries of a workflow that is deleted.';
comment on index lenses.outbox_order_idx is 'The first event of each order_key (fn_take_events).';
comment on index lenses.outbox_live_idx is 'Waiting events of a delivery, oldest first (fn_take_events, fn_trim_outbox).';
comment on index lenses.outbox_dead_idx is 'Dead letters of a delivery (fn_trim_outbox, fn_retry_dead_events, health).';
comment on index lenses.delivery_requests_delivery_idx is 'Requests in flight of a delivery (fn_requests_in_flight, fn_read_answers).';
