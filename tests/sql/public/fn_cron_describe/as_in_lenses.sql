begin;

select plan(2);

select is(
  public.fn_cron_describe('30 8 1 * *'),
  'At 08:30, on the 1st of every month',
  'the sentence'
);

select throws_ok(
  'select public.fn_cron_describe(''@daily'')',
  '22023',
  null,
  'a bad expression is refused'
);

select * from finish();

rollback;
