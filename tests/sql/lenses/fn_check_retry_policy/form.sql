begin;
select plan(5);

select lives_ok($$select lenses.fn_check_retry_policy('{"maxRetries": 1}')$$, 'the default');
select lives_ok(
  $$select lenses.fn_check_retry_policy(
    '{"maxRetries": 0, "backoffMs": 1000, "retryOn": ["timeout", "rate_limit"], "timeoutMs": 60000}'
  )$$, 'every key'
);
select throws_ok(
  $$select lenses.fn_check_retry_policy('{"max_retries": 1}')$$, '22023',
  'retry_policy: unknown key "max_retries"; the nearest is "maxRetries"'
);
select throws_ok(
  $$select lenses.fn_check_retry_policy('{"maxRetries": -1}')$$, '22023',
  'retry_policy.maxRetries is -1; the nearest allowed is 0'
);
select throws_ok(
  $$select lenses.fn_check_retry_policy('{"retryOn": ["timeout", "time_out"]}')$$, '22023',
  'retry_policy.retryOn: bad entry "time_out"; the nearest is "timeout"'
);

select * from finish();
rollback;
