begin;

select plan(5);

select is(
  lenses.fn_cron_matches_now('30 9 * * *', '2026-01-01 09:30:59+00'),
  true,
  'anywhere in the minute, UTC by default'
);

select is(
  lenses.fn_cron_matches_now('30 9 * * *', '2026-01-01 09:31+00'),
  false,
  'not in the next'
);

select is(
  lenses.fn_cron_matches_now('30 9 * * *', '2026-01-01 08:30+00', 'Europe/Berlin'),
  true,
  'in the zone'
);

select is(
  lenses.fn_cron_matches_now('30 2 * * *', '2024-03-10 07:00+00', 'America/New_York'),
  true,
  'at the end of the gap'
);

select is(
  lenses.fn_cron_matches_now('* * * * *'),
  true,
  'now by default'
);

select * from finish();

rollback;
