begin;

select plan(5);

select is(
  lenses.fn_cron_is_valid('0 9 * * 1-5'),
  true,
  'an expression'
);

select is(
  lenses.fn_cron_is_valid('@daily'),
  false,
  'a nickname'
);

select is(
  lenses.fn_cron_is_valid(''),
  false,
  'nothing'
);

select is(
  lenses.fn_cron_is_valid(null),
  false,
  'null'
);

select is(
  lenses.fn_cron_is_valid(repeat('*', 1000000)),
  false,
  'a megabyte'
);

select * from finish();

rollback;
