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

-- By rule: these never run out.
insert into lenses.schedule_calendars (id, lenser_id, name, kind, timezone, dates, rules, is_seed)
values
  (
    'ca1e0da0-0000-4000-8000-000000000001', null, 'us-federal-holidays', 'skip_dates',
    'America/New_York', '{}',
    -- the days off; Juneteenth since 2021. Source: 5 U.S.C. 6103
    '[
      {"month_day": "01-01", "observed": true},
      {"nth": {"weekday": "MON", "n": 3, "month": 1}},
      {"nth": {"weekday": "MON", "n": 3, "month": 2}},
      {"nth": {"weekday": "MON", "n": -1, "month": 5}},
      {"month_day": "06-19", "observed": true, "from": "2021-01-01"},
      {"month_day": "07-04", "observed": true},
      {"nth": {"weekday": "MON", "n": 1, "month": 9}},
      {"nth": {"weekday": "MON", "n": 2, "month": 10}},
      {"month_day": "11-11", "observed": true},
      {"nth": {"weekday": "THU", "n": 4, "month": 11}},
      {"month_day": "12-25", "observed": true}
    ]',
    true
  ),
  (
    'ca1e0da0-0000-4000-8000-000000000002', null, 'tr-public-holidays', 'skip_dates',
    'Europe/Istanbul',
    -- Ramazan Bayramı and Kurban Bayramı, as far as they are known; their eves, half days, are not
    -- in
    array[
      '2025-03-30', '2025-03-31', '2025-04-01', '2025-06-06', '2025-06-07', '2025-06-08',
      '2025-06-09', '2026-03-20', '2026-03-21', '2026-03-22', '2026-05-27', '2026-05-28',
      '2026-05-29', '2026-05-30', '2027-03-09', '2027-03-10', '2027-03-11', '2027-05-16',
      '2027-05-17', '2027-05-18', '2027-05-19', '2028-02-26', '2028-02-27', '2028-02-28',
      '2028-05-05', '2028-05-06', '2028-05-07', '2028-05-08', '2029-02-14', '2029-02-15',
      '2029-02-16', '2029-04-24', '2029-04-25', '2029-04-26', '2029-04-27', '2030-02-04',
      '2030-02-05', '2030-02-06', '2030-04-13', '2030-04-14', '2030-04-15', '2030-04-16',
      '2031-01-24', '2031-01-25', '2031-01-26', '2031-04-02', '2031-04-03', '2031-04-04',
      '2031-04-05', '2032-01-14', '2032-01-15', '2032-01-16', '2032-03-22', '2032-03-23',
      '2032-03-24', '2032-03-25'
    ]::date[],
    -- 15 July since 2017
    '[
      {"month_day": "01-01"}, {"month_day": "04-23"}, {"month_day": "05-01"},
      {"month_day": "05-19"}, {"month_day": "07-15", "from": "2017-01-01"},
      {"month_day": "08-30"}, {"month_day": "10-29"}
    ]',
    true
  ),
  (
    'ca1e0da0-0000-4000-8000-000000000003', null, 'weekdays', 'only_dates', 'UTC', '{}',
    '[{"weekdays": ["MON", "TUE", "WED", "THU", "FRI"]}]', true
  )
on conflict (id) do nothing;
