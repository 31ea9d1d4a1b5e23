begin;

select plan(6);

select is(
  lenses.fn_cron_build('{"frequency": "hourly", "minute": 15}'),
  '15 * * * *',
  'hourly'
);

select is(
  lenses.fn_cron_build('{"frequency": "daily", "hour": 9, "minute": 30}'),
  '30 9 * * *',
  'daily'
);

select is(
  lenses.fn_cron_build('{"frequency": "weekly", "hour": 9, "days": [5, 1, 2, 3, 4, 5]}'),
  '0 9 * * 1-5',
  'three days in a row are a range'
);

select is(
  lenses.fn_cron_build('{"frequency": "weekly", "days": ["sat", "SUN"]}'),
  '0 0 * * 0,6',
  'names, sorted as numbers'
);

select is(
  lenses.fn_cron_build('{"frequency": "weekly", "days": [7, 1, 2, 5, "Thursday"]}'),
  '0 0 * * 0-2,4,5',
  '7 is Sunday; two in a row are a list'
);

select is(
  lenses.fn_cron_build('{"frequency": "monthly", "hour": 8, "day_of_month": 31, "days": null}'),
  '0 8 31 * *',
  'monthly'
);

select * from finish();

rollback;
