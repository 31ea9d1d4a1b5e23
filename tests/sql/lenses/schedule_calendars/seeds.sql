begin;
select plan(10);

select set_eq(
  'select name, kind, timezone, cardinality(dates) from lenses.schedule_calendars where is_seed',
  $$values ('us-federal-holidays-2026', 'skip_dates', 'America/New_York', 11),
    ('tr-public-holidays-2026', 'skip_dates', 'Europe/Istanbul', 14),
    ('weekends-only', 'only_dates', 'UTC', 104),
    ('us-federal-holidays', 'skip_dates', 'America/New_York', 0),
    ('tr-public-holidays', 'skip_dates', 'Europe/Istanbul', 56),
    ('weekdays', 'only_dates', 'UTC', 0)$$,
  'the seeds: 11 and 14 holidays, weekends, and three by rule'
);
select is(
  (select dates::text[] from lenses.schedule_calendars where name = 'us-federal-holidays-2026'),
  '{2026-01-01,2026-01-19,2026-02-16,2026-05-25,2026-06-19,2026-07-03,2026-09-07,2026-10-12,2026-11-11,2026-11-26,2026-12-25}',
  'the days on which federal offices are closed'
);
select is(
  (select dates::text[] from lenses.schedule_calendars where name = 'tr-public-holidays-2026'),
  '{2026-01-01,2026-03-20,2026-03-21,2026-03-22,2026-04-23,2026-05-01,2026-05-19,2026-05-27,2026-05-28,2026-05-29,2026-05-30,2026-07-15,2026-08-30,2026-10-29}',
  'the full days of Turkey'
);
select is(
  (
    select count(*) from lenses.schedule_calendars c, unnest(c.dates) d
    where c.name = 'weekends-only' and trim(to_char(d, 'Day')) in ('Saturday', 'Sunday')
      and d between '2026-01-01' and '2026-12-31'
  ), 104::bigint, 'nothing but Saturdays and Sundays of 2026'
);
select ok(
  (
    select '2026-01-03' = c.dates[1] and '2026-01-04' = c.dates[2] and '2026-12-27' = c.dates[104]
    from lenses.schedule_calendars c where c.name = 'weekends-only'
  ), 'from the first Saturday to the last Sunday'
);
select ok(
  (
    select bool_and(c.dates = array(select distinct d from unnest(c.dates) d order by d))
    from lenses.schedule_calendars c where c.is_seed
  ), 'sorted, each once'
);
select is(
  (select count(*) from lenses.schedule_calendars where is_seed and lenser_id is not null), 0::bigint,
  'they belong to nobody'
);
select is(
  (select id from lenses.schedule_calendars where name = v.name), v.id::uuid, v.name || ' keeps its id'
)
from (values
  ('us-federal-holidays-2026', 'ca1e0da0-2026-4000-8000-000000000001'),
  ('tr-public-holidays-2026', 'ca1e0da0-2026-4000-8000-000000000002'),
  ('weekends-only', 'ca1e0da0-2026-4000-8000-000000000003')
) v (name, id);

select * from finish();
rollback;
