begin;

select plan(7);

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

select throws_ok(
  format('select public.fn_cron_preview(''0 9 * * *'', ''UTC'', %s)', n),
  '22023',
  format('p_n %s is not positive', n),
  n || ' slots are refused, as by fn_preview_schedule_ticks'
)
from unnest(array['-1', '0', 'NULL']) as n;

select is(
  (select count(*) from public.fn_cron_preview('* * * * *', 'UTC', 1001)),
  1000::bigint,
  'no more than a thousand'
);

select * from finish();

rollback;
