begin;

select plan(5);

select is(
  lenses.fn_cron_next_after('30 1 * * *', 'America/New_York', '2024-11-03 04:00+00'),
  timestamptz '2024-11-03 05:30+00',
  'a fixed time comes in the first pass'
);

select is(
  lenses.fn_cron_next_after('30 1 * * *', 'America/New_York', '2024-11-03 05:30+00'),
  timestamptz '2024-11-04 06:30+00',
  'and not in the second'
);

select is(
  lenses.fn_cron_next_after('30 1 * * *', 'America/New_York', '2024-11-03 06:15+00'),
  timestamptz '2024-11-04 06:30+00',
  'nor when asked within the second'
);

select is(
  lenses.fn_cron_next_after('30 * * * *', 'America/New_York', '2024-11-03 05:30+00'),
  timestamptz '2024-11-03 06:30+00',
  'real time comes in both'
);

select is(
  lenses.fn_cron_next_after('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04 14:45+00'),
  timestamptz '2026-04-05 15:15+00',
  'half an hour is repeated too'
);

select * from finish();

rollback;
