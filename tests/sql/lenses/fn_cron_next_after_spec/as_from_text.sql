begin;

select plan(4);

select is(
  lenses.fn_cron_next_after_spec(
    lenses.fn_cron_parse('15 10 * * 1,3,5'), 'Asia/Tokyo', '2026-01-01 00:00+00'
  ),
  lenses.fn_cron_next_after('15 10 * * 1,3,5', 'Asia/Tokyo', '2026-01-01 00:00+00'),
  'a stored form gives what the text gives'
);

select is(
  lenses.fn_cron_next_after_spec(
    lenses.fn_cron_parse('*/5 2 8-14 3 */7'), 'America/New_York', '2026-01-01 00:00+00'
  ),
  null::timestamptz,
  'a slot that the clock always skips never comes'
);

select throws_ok(
  $$ select lenses.fn_cron_next_after_spec(
    lenses.fn_cron_parse('0 9 * * *'), 'Mars/Olympus', now()
  ) $$,
  '22023',
  null,
  'an unknown zone is refused'
);

select is(
  lenses.fn_cron_next_after_spec(null, 'UTC', now()),
  null::timestamptz,
  'null gives null'
);

select * from finish();

rollback;
