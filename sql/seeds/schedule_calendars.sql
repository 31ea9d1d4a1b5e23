-- The calendars that come with the product, seen by every tenant. Replayed at each install; rows
-- that are there stay as they are, so a change of a seed needs a migration. The ids are for good:
-- schedules hold them.
insert into lenses.schedule_calendars (id, lenser_id, name, kind, timezone, dates, is_seed)
values
  (
    'ca1e0da0-2026-4000-8000-000000000001', null, 'us-federal-holidays-2026', 'skip_dates',
    'America/New_York',
    -- the days off: Independence Day is a Saturday, observed on the Friday before
    array[
      '2026-01-01', '2026-01-19', '2026-02-16', '2026-05-25', '2026-06-19', '2026-07-03',
      '2026-09-07', '2026-10-12', '2026-11-11', '2026-11-26', '2026-12-25'
    ]::date[],
    true
  ),
  (
    'ca1e0da0-2026-4000-8000-000000000002', null, 'tr-public-holidays-2026', 'skip_dates',
    'Europe/Istanbul',
    -- 03-20 to 22 Ramazan Bayramı, 05-27 to 30 Kurban Bayramı; their eves, half days, are not in
    array[
      '2026-01-01', '2026-03-20', '2026-03-21', '2026-03-22', '2026-04-23', '2026-05-01',
      '2026-05-19', '2026-05-27', '2026-05-28', '2026-05-29', '2026-05-30', '2026-07-15',
      '2026-08-30', '2026-10-29'
    ]::date[],
    true
  ),
  (
    'ca1e0da0-2026-4000-8000-000000000003', null, 'weekends-only', 'only_dates', 'UTC',
    array(
      select date '2026-01-01' + d
      from pg_catalog.generate_series(0, 364) as d
      where extract(isodow from date '2026-01-01' + d) in (6, 7)
      order by d
    ),
    true
  )
on conflict (id) do nothing;
