-- The header webhook-signature of Standard Webhooks: a signature a key.
create or replace function lenses.fn_webhook_signature(
  p_keys bytea[],
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
select string_agg('v1,' || encode(lenses.fn_hmac_sha256(
  k.key, convert_to(p_id || '.' || p_timestamp || '.' || p_body, 'UTF8')), 'base64'), ' '
  order by k.place)
from unnest(p_keys) with ordinality as k (key, place)
$$;

comment on function lenses.fn_webhook_signature(bytea[], text, bigint, text) is
  'v1,<base64>, one for each of p_keys with a blank between: signs the request p_id, sent at '
  'p_timestamp (seconds since 1970), with the body p_body.';
