-- The header webhook-signature of Standard Webhooks.
create or replace function lenses.fn_webhook_signature(
  p_key bytea,
  p_id text,
  p_timestamp bigint,
  p_body text
)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select 'v1,' || encode(lenses.fn_hmac_sha256(
  p_key, convert_to(p_id || '.' || p_timestamp || '.' || p_body, 'UTF8')), 'base64')
$$;

comment on function lenses.fn_webhook_signature(bytea, text, bigint, text) is 'v1,<base64>: signs the request p_id, sent at p_timestamp (seconds since 1970), with the body p_body.';
