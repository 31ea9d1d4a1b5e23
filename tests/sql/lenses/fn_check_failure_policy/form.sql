begin;
select plan(6);

select lives_ok($$select lenses.fn_check_failure_policy('{"mode": "isolate"}')$$, 'the default');
select lives_ok($$select lenses.fn_check_failure_policy('{}')$$, 'the default, left out');
select lives_ok(
  $$select lenses.fn_check_failure_policy(
    '{"mode": "fallback", "fallbackAssigneeId": "0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13"}'
  )$$, 'a fallback'
);
select throws_ok(
  $$select lenses.fn_check_failure_policy('{"mode": "fallback"}')$$, '22023',
  'failure_policy: mode "fallback" needs "fallbackAssigneeId"'
);
select throws_ok(
  $$select lenses.fn_check_failure_policy(
    '{"fallbackAssigneeId": "0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13"}'
  )$$, '22023', 'failure_policy: "fallbackAssigneeId" has no effect with mode "isolate"'
);
select throws_ok(
  $$select lenses.fn_check_failure_policy('{"mode": "stop"}')$$, '22023', null, 'an unknown mode'
);

select * from finish();
rollback;
