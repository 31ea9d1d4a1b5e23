-- A worker's heartbeat says which session of the server is its own, so that whoever holds the leader's lock without
-- being a worker is known for what he is. NULL until a worker of this version beats.
alter table lenses.worker_heartbeats add column server_pid integer;

comment on column lenses.worker_heartbeats.server_pid is 'The server process of the worker''s connection.';
