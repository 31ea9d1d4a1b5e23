begin;

select plan(9);

select is(
  (lenses.fn_cron_parse('*/15 9-17 * * 1-5')).minutes,
  1::bigint | (1::bigint << 15) | (1::bigint << 30) | (1::bigint << 45),
  'a step'
);

select is(
  (lenses.fn_cron_parse('0 9-17 * * *')).hours,
  (1 << 18) - (1 << 9),
  'a range'
);

select is(
  (lenses.fn_cron_parse('0 0 1,31 * *')).days,
  1 | (1 << 30),
  'a list; bit 0 is the 1st'
);

select is(
  (lenses.fn_cron_parse('0 0 * jan,Dec *')).months,
  1 | (1 << 11),
  'names in any case; bit 0 is January'
);

select is(
  (lenses.fn_cron_parse('0 0 * * 7')).weekdays,
  1,
  '7 is Sunday'
);

select is(
  (lenses.fn_cron_parse('0 0 * * FRI-SUN')).weekdays,
  1 | (1 << 5) | (1 << 6),
  'SUN ends a range as 7'
);

select is(
  (lenses.fn_cron_parse('0 0 * * 1/3')).weekdays,
  (1 << 1) | (1 << 4),
  'a/n ends on Saturday'
);

select is(
  lenses.fn_cron_parse(E' 5 \t 4  * * *\n'),
  lenses.fn_cron_parse('5 4 * * *'),
  'blanks and tabs around and between'
);

select is(
  (lenses.fn_cron_parse('45 3 * * *')).first_minute,
  3 * 60 + 45,
  'the first minute of a day'
);

select * from finish();

rollback;
