-- What pg_net puts into a database, as far as we can see it: a stand-in for tests. The names, types,
-- defaults and rights are those of pg_net; what sends is tests/delivery/sender.py.
create schema net;

create unlogged table net.http_request_queue (
  id bigserial,
  method text not null,
  url text not null,
  headers jsonb not null,
  body bytea,
  timeout_milliseconds integer not null
);

create unlogged table net._http_response (
  id bigint,
  status_code integer,
  content_type text,
  headers jsonb,
  content text,
  timed_out boolean,
  error_msg text,
  created timestamptz not null default now()
);
create index on net._http_response (created);

create function net.wake() returns void language sql as 'select pg_notify(''net_wake'', '''')';

create function net.http_post(
  url text,
  body jsonb default '{}'::jsonb,
  params jsonb default '{}'::jsonb,
  headers jsonb default '{"Content-Type": "application/json"}'::jsonb,
  timeout_milliseconds integer default 5000
)
returns bigint
language plpgsql
volatile
parallel safe
as $$
declare
  request_id bigint;
begin
  if http_post.headers ->> 'Content-Type' <> 'application/json' then
    raise exception 'Content-Type header must be "application/json"';
  end if;
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (
    'POST', http_post.url, http_post.headers, convert_to(http_post.body::text, 'UTF8'),
    http_post.timeout_milliseconds
  )
  returning id into request_id;
  perform net.wake();
  return request_id;
end
$$;

grant usage on schema net to public;
grant all on all tables in schema net to public;
grant all on all sequences in schema net to public;
