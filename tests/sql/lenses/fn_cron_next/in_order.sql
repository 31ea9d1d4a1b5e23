begin;

select plan(3);

select results_eq(
  $$ select lenses.fn_cron_next('0 9 * * 1-5', 'Europe/Berlin', '2026-03-27 00:00+00', 3) $$,
  $$ values
    (timestamptz '2026-03-27 08:00+00'),
    (timestamptz '2026-03-30 07:00+00'),
    (timestamptz '2026-03-31 07:00+00') $$,
  'the next three, over the weekend and the change of the clock'
);

select is_empty(
  $$ select lenses.fn_cron_next('* * * * *', 'UTC', now(), 0) $$,
  'none when none are asked for'
);

select throws_ok(
  'select lenses.fn_cron_next(''* * * * *'', ''UTC+8'', now(), 1)',
  '22023',
  null,
  'a zone that Postgres would misread is refused'
);

select * from finish();

rollback;
