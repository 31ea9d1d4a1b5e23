begin;

select plan(4);

select is(lenses.fn_retry_delay('{}', 3), interval '0', 'no backoffMs, no delay');
select is(lenses.fn_retry_delay(null, 1), interval '0', 'no policy, no delay');

select is_empty(
  $$
  select n.attempt
  from generate_series(1, 10) as n (attempt)
  cross join lateral (
    select extract(epoch from lenses.fn_retry_delay('{"backoffMs": 1000}', n.attempt)) as seconds
  ) as d
  where d.seconds not between 0.75 * 2 ^ (n.attempt - 1) and 1.25 * 2 ^ (n.attempt - 1)
  $$,
  'a second, doubled with each attempt, a quarter more or less'
);

select cmp_ok(
  lenses.fn_retry_delay('{"backoffMs": 1000}', 1000), '<=', interval '30 hours',
  'about a day at most'
);

select * from finish();

rollback;
