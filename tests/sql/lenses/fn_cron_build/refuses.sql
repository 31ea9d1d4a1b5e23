begin;

select plan(9);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "yearly"}'')',
  '22023',
  null,
  'another frequency'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"hour": 9}'')',
  '22023',
  null,
  'no frequency'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "daily", "hour": 24}'')',
  '22023',
  null,
  'out of range'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "daily", "hour": "nine"}'')',
  '22023',
  null,
  'not a number'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "daily", "minute": 1.5}'')',
  '22023',
  null,
  'not whole'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "weekly"}'')',
  '22023',
  null,
  'weekly without days'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "weekly", "days": [8]}'')',
  '22023',
  null,
  'no such day'
);

select throws_ok(
  'select lenses.fn_cron_build(''{"frequency": "daily", "second": 1}'')',
  '22023',
  null,
  'an unknown choice'
);

select throws_ok(
  'select lenses.fn_cron_build(''[]'')',
  '22023',
  null,
  'not an object'
);

select * from finish();

rollback;
