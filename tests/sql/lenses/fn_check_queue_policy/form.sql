begin;
select plan(7);

select lives_ok($$select lenses.fn_check_queue_policy('{"mode": "parallel"}')$$, 'the default');
select lives_ok(
  $$select lenses.fn_check_queue_policy(
    '{"mode": "serial", "maxConcurrency": 1, "priority": 9, "onMissed": "spread", "onOverlap": "queue",
      "maxBackfill": 1000000, "spreadWindowMs": 60000}'
  )$$, 'every key'
);
select throws_ok(
  $$select lenses.fn_check_queue_policy('{"onMissed": "backfil"}')$$, '22023',
  'queue_policy.onMissed: unknown value "backfil"; the nearest is "backfill"'
);
select throws_ok(
  $$select lenses.fn_check_queue_policy('{"priority": -1}')$$, '22023',
  'queue_policy.priority is -1; the nearest allowed is 0'
);
select throws_ok(
  $$select lenses.fn_check_queue_policy('{"maxConcurrency": 0}')$$, '22023',
  'queue_policy.maxConcurrency is 0; the nearest allowed is 1'
);
select throws_ok(
  $$select lenses.fn_check_queue_policy('{"mode": "serial", "onMissed": "backfill", "onOverlap": "skip"}')$$,
  '22023',
  'queue_policy: onOverlap "skip" contradicts onMissed "backfill" in mode "serial"; the nearest is "queue"'
);
select lives_ok(
  $$select lenses.fn_check_queue_policy('{"mode": "serial", "onMissed": "backfill"}')$$,
  'onOverlap left out is no contradiction'
);

select * from finish();
rollback;
