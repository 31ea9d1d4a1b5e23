begin;

select plan(5);

select is(
  lenses.fn_cron_count(
    lenses.fn_cron_parse('* * * * *'), 'UTC', '2026-01-01 00:00+00', '2027-01-01 00:00+00'
  ),
  525600::bigint,
  'a year of minutes'
);

select is(
  lenses.fn_cron_count(
    lenses.fn_cron_parse('30 2 * * *'), 'America/New_York',
    '2024-01-01 05:00+00', '2025-01-01 05:00+00'
  ),
  366::bigint,
  'a fixed time comes once a day'
);

select is(
  lenses.fn_cron_count(
    lenses.fn_cron_parse('*/30 2 * * *'), 'America/New_York',
    '2024-01-01 05:00+00', '2025-01-01 05:00+00'
  ),
  730::bigint,
  'real time loses the skipped hour'
);

select is(
  lenses.fn_cron_count(
    lenses.fn_cron_parse('*/30 1 * * *'), 'America/New_York',
    '2024-01-01 05:00+00', '2025-01-01 05:00+00'
  ),
  734::bigint,
  'and has the repeated hour twice'
);

select is(
  lenses.fn_cron_count(
    lenses.fn_cron_parse('0 9 * * *'), 'UTC', '2026-01-01 09:00+00', '2026-01-02 09:00+00'
  ),
  1::bigint,
  'after the start, up to the end'
);

select * from finish();

rollback;
