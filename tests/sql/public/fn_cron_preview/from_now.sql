begin;

select plan(3);

select is(
  (select count(*) from public.fn_cron_preview('0 9 * * *', 'Europe/Berlin')),
  5::bigint,
  'five by default'
);

select is(
  (select min(slot) from public.fn_cron_preview('*/5 * * * *', 'UTC', 2) as slot),
  lenses.fn_cron_next_after('*/5 * * * *', 'UTC', now()),
  'after now'
);

select throws_ok(
  'select public.fn_cron_preview(''0 9 * * *'', ''PST'')',
  '22023',
  null,
  'a bad zone is refused'
);

select * from finish();

rollback;
