begin;

select plan(4);

select is(
  lenses.fn_cron_nth_after(lenses.fn_cron_parse('0 9 * * *'), 'UTC', '2026-01-01 09:00+00', 1),
  timestamptz '2026-01-02 09:00+00',
  'the first is strictly after'
);

select is(
  lenses.fn_cron_nth_after(
    lenses.fn_cron_parse('*/7 1-3 * * *'), 'America/New_York', '2024-10-30 00:00+00', 200
  ),
  (
    select max(slot)
      from lenses.fn_cron_next(
        '*/7 1-3 * * *', 'America/New_York', '2024-10-30 00:00+00', 200
      ) as slot
  ),
  'over a repeated hour'
);

select is(
  lenses.fn_cron_nth_after(lenses.fn_cron_parse('0 0 29 2 */7'), 'UTC', '2026-01-01 00:00+00', 3),
  timestamptz '2088-02-29 00:00+00',
  'rare ones'
);

select throws_ok(
  'select lenses.fn_cron_nth_after(lenses.fn_cron_parse(''* * * * *''), ''UTC'', now(), 0)',
  '22023',
  null,
  'the 0th is refused'
);

select * from finish();

rollback;
