begin;

select plan(11);

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

select throws_like(
  $$select lenses.fn_cron_build(jsonb_build_object(
    'frequency', 'weekly', 'days', (select jsonb_agg(1) from generate_series(1, 101))))$$,
  '%101: at most 100 days%',
  'more days than a week could need'
);

select throws_like(
  $$select lenses.fn_cron_build(jsonb_build_object(
    'frequency', 'monthly', 'days', (select jsonb_agg('MON#1'::text) from generate_series(1, 101))))$$,
  '%not weekdays of a month%',
  'more days than a month has'
);

select * from finish();

rollback;
