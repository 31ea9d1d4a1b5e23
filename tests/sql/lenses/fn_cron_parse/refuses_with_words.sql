begin;

select plan(9);

select throws_ok(
  'select lenses.fn_cron_parse(''60 * * * *'')',
  '22023',
  null,
  'out of range is 22023'
);

select throws_like(
  'select lenses.fn_cron_parse(''0 24 * * *'')',
  '%"0 24 * * *"%hour field%"24"%0-23%',
  'expression, field, item, range'
);

select throws_like(
  'select lenses.fn_cron_parse(''0 0 * * FRI-MON'')',
  '%day-of-week field%"FRI-MON"%',
  'a reversed range'
);

select throws_like(
  'select lenses.fn_cron_parse(''*/90 * * * *'')',
  '%minute field%"*/90"%1 to 59%',
  'a step larger than the field'
);

select throws_like(
  'select lenses.fn_cron_parse(''* * * * * *'')',
  '%6 fields%',
  'a sixth field'
);

select throws_like(
  'select lenses.fn_cron_parse(''1,,2 * * * *'')',
  '%minute field%empty list item%',
  'an empty item'
);

select throws_like(
  'select lenses.fn_cron_parse(''0 0 30 2 *'')',
  '%day-of-month field%never comes%',
  'a date that never comes'
);

select throws_like(
  'select lenses.fn_cron_parse(repeat(''0,'', 600) || ''0 * * * *'')',
  '%1209 characters, at most 1000%',
  'too long'
);

select throws_like(
  'select lenses.fn_cron_parse(null)',
  '%null%',
  'null'
);

select * from finish();

rollback;
