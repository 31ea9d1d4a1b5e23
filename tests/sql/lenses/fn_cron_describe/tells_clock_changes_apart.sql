begin;

select plan(3);

select isnt(
  lenses.fn_cron_describe('*/30 2 * * *'),
  lenses.fn_cron_describe('0,30 2 * * *'),
  'real time and wall clock'
);

select isnt(
  lenses.fn_cron_describe('0-59 0-23 * * *'),
  lenses.fn_cron_describe('* * * * *'),
  'also when the sets are the same'
);

select is(
  lenses.fn_cron_describe('0-59 * * * *'),
  lenses.fn_cron_describe('* * * * *'),
  'the same schedule written in two ways'
);

select * from finish();

rollback;
