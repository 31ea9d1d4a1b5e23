begin;

select plan(5);

select is(
  lenses.fn_cron_next_after('30 2 * * *', 'America/New_York', '2024-03-10 05:00+00'),
  timestamptz '2024-03-10 07:00+00',
  'a fixed time falls on the end of the gap'
);

select is(
  lenses.fn_cron_next_after('30 2 * * *', 'America/New_York', '2024-03-10 07:00+00'),
  timestamptz '2024-03-11 06:30+00',
  'once'
);

select is(
  lenses.fn_cron_next_after('0,30 2,3 * * *', 'America/New_York', '2024-03-10 07:00+00'),
  timestamptz '2024-03-10 07:30+00',
  'several skipped times are one'
);

select is(
  lenses.fn_cron_next_after('*/30 2 * * *', 'America/New_York', '2024-03-10 05:00+00'),
  timestamptz '2024-03-11 06:00+00',
  'real time has no slot there'
);

select is(
  lenses.fn_cron_next_after('0 0 * * *', 'America/Santiago', '2022-09-10 12:00+00'),
  timestamptz '2022-09-11 04:00+00',
  'a midnight that does not exist'
);

select * from finish();

rollback;
