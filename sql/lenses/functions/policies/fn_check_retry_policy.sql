-- Called by the triggers of every table that stores a retry policy. Raises 22023, see comment.
create or replace function lenses.fn_check_retry_policy(p_policy jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_policy('retry_policy', p_policy, '{
    "maxRetries": {"type": "integer", "min": 0, "max": 1000},
    "backoffMs": {"type": "integer", "min": 0, "max": 31622400000},
    "retryOn": {"type": "words", "max": 64, "length": 200,
      "values": ["timeout", "provider_error", "rate_limit", "contract_violated"]},
    "timeoutMs": {"type": "integer", "min": 1, "max": 31622400000}
  }');
end;
$$;

comment on function lenses.fn_check_retry_policy(jsonb) is
  'Raises 22023 unless p_policy is an object of maxRetries (0 to 1000), backoffMs (0 to 366 days, '
  'in ms), retryOn (of timeout, provider_error, rate_limit, contract_violated) and timeoutMs (1 '
  'to 366 days, in ms).';
