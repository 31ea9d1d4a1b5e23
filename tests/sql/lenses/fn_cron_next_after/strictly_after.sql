begin;

select plan(3);

select is(
  lenses.fn_cron_next_after('* * * * *', 'UTC', '2023-07-25 02:11:27+00'),
  timestamptz '2023-07-25 02:12+00',
  'within a minute: the next one'
);

select is(
  lenses.fn_cron_next_after('5 4 * * *', 'UTC', '2024-01-01 04:05+00'),
  timestamptz '2024-01-02 04:05+00',
  'on a slot: the following one'
);

select is(
  lenses.fn_cron_next_after('0 0 29 2 *', 'UTC', '2096-02-29 00:00+00'),
  timestamptz '2104-02-29 00:00+00',
  'over a century without its leap day'
);

select * from finish();

rollback;
