begin;
select plan(5);

select lives_ok($$select lenses.fn_check_approval_policy('{"requiresApproval": true}')$$, 'the default');
select lives_ok(
  $$select lenses.fn_check_approval_policy(
    '{"requiresApproval": false, "mode": "on_block", "gates": ["publish", "spend"], "expiresAfterMs": 1}'
  )$$, 'every key'
);
select throws_ok(
  $$select lenses.fn_check_approval_policy('{"requireApproval": true}')$$, '22023',
  'approval_policy: unknown key "requireApproval"; the nearest is "requiresApproval"'
);
select throws_ok(
  $$select lenses.fn_check_approval_policy('{"requiresApproval": "false"}')$$, '22023',
  'approval_policy.requiresApproval must be true or false, not string "false"'
);
select throws_ok(
  $$select lenses.fn_check_approval_policy('{"gates": "publish"}')$$, '22023',
  'approval_policy.gates must be an array of strings, not string "publish"'
);

select * from finish();
rollback;
