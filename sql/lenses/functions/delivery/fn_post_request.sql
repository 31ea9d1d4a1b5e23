-- owner: lf_sql_engine
-- Asks pg_net for one signed request and stores its number; pg_net sends it when the caller
-- commits. Others may read the queue: it contains the signature, never the secret. A number that is
-- already known belongs to a request that pg_net has lost, so the new request takes it over. What
-- is about a run, an event too, is part of the run's trace.
create or replace function lenses.fn_post_request(
  p_delivery lenses.deliveries,
  p_keys bytea[],
  p_id text,
  p_body jsonb,
  p_run_id uuid,
  p_outbox_id bigint,
  p_attempt integer,
  p_expires_at timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_second constant bigint := floor(extract(epoch from clock_timestamp()));
  c_traceparent constant text := case when p_run_id is not null
    then lenses.fn_run_traceparent(p_run_id, p_attempt)
    else lenses.fn_run_traceparent(
      (p_body #>> '{data,run_id}')::uuid, coalesce((p_body #>> '{data,attempt}')::integer, 0)) end;
  v_headers jsonb := p_delivery.headers || jsonb_strip_nulls(jsonb_build_object(
    'Content-Type', 'application/json', 'webhook-id', p_id, 'webhook-timestamp', v_second::text,
    'traceparent', c_traceparent));
  v_request_id bigint;
begin
  if p_keys is not null then
    v_headers := v_headers || jsonb_build_object(
      'webhook-signature', lenses.fn_webhook_signature(p_keys, p_id, v_second, p_body::text));
  end if;
  v_request_id := net.http_post(
    url := p_delivery.url, body := p_body, params := '{}'::jsonb, headers := v_headers,
    timeout_milliseconds := p_delivery.timeout_ms);
  insert into lenses.delivery_requests as q (
    request_id, delivery, key, run_id, outbox_id, attempt, queue_oid, sent_at, expires_at
  )
  values (
    v_request_id, p_delivery.name, p_id, p_run_id, p_outbox_id, p_attempt,
    to_regclass('net._http_response'), now(), p_expires_at
  )
  on conflict (request_id) do update
  set delivery = excluded.delivery, key = excluded.key, run_id = excluded.run_id,
    outbox_id = excluded.outbox_id, attempt = excluded.attempt, queue_oid = excluded.queue_oid,
    sent_at = excluded.sent_at, expires_at = excluded.expires_at;
end;
$$;
