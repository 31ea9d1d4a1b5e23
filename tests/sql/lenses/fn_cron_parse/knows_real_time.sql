begin;

select plan(6);

select is(
  (lenses.fn_cron_parse('*/30 2 * * *')).is_real_time,
  true,
  'the minute begins with a star'
);

select is(
  (lenses.fn_cron_parse('0 */2 * * *')).is_real_time,
  true,
  'the hour begins with a star'
);

select is(
  (lenses.fn_cron_parse('0-59/30 2 * * *')).is_real_time,
  false,
  'no star'
);

select is(
  (lenses.fn_cron_parse('5,*/10 2 * * *')).is_real_time,
  false,
  'a star that is not first'
);

select is(
  (lenses.fn_cron_parse('*/30,5 2 * * *')).is_real_time,
  true,
  'a star that is first'
);

select is(
  (lenses.fn_cron_parse('0 2 * * *')).is_real_time,
  false,
  'a plain time'
);

select * from finish();

rollback;
