begin;

select plan(6);

select is(
  lenses.fn_cron_describe('0 9 * * 1-5'),
  'At 09:00, Monday through Friday',
  'a working day'
);

select is(
  lenses.fn_cron_describe('*/25 * * * *'),
  'At minutes 0, 25 and 50 of every hour',
  'an uneven step is told honestly'
);

select is(
  lenses.fn_cron_describe('0 0 13 * 5'),
  'At 00:00, on the 13th of every month and also on every Friday',
  'either day'
);

select is(
  lenses.fn_cron_describe('0 16 */2 * SAT'),
  'At 16:00, on every 2nd day from the 1st through the 31st of every month, '
  'but only if it is also a Saturday',
  'both days'
);

select is(
  lenses.fn_cron_describe('* */2 * * *'),
  'Every minute of every 2nd hour from 00 through 22, every day',
  'every minute of some hours'
);

select is(
  lenses.fn_cron_describe('0 0 * * 0'),
  'At 00:00, on Sundays',
  'one day'
);

select * from finish();

rollback;
