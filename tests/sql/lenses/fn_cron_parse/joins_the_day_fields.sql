begin;

select plan(7);

select is(
  (lenses.fn_cron_parse('0 0 * * *')).day_rule,
  0,
  'every day'
);

select is(
  (lenses.fn_cron_parse('0 0 * * 1-5')).day_rule,
  1,
  'weekdays alone'
);

select is(
  (lenses.fn_cron_parse('0 0 13 * *')).day_rule,
  2,
  'days alone'
);

select is(
  (lenses.fn_cron_parse('0 0 */2 * MON')).day_rule,
  2,
  'a star first in either field: both'
);

select is(
  (lenses.fn_cron_parse('0 0 13 * 5')).day_rule,
  3,
  'no star: either'
);

select is(
  (lenses.fn_cron_parse('0 0 1-31 * 5')).day_rule,
  0,
  'either, and one is every day'
);

select is(
  (lenses.fn_cron_parse('0 0 * 6 1')).day_rule,
  2,
  'weekdays within months'
);

select * from finish();

rollback;
