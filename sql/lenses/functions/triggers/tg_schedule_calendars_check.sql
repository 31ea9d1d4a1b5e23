-- owner: lf_sql_engine
-- Validates a calendar's row, whatever path it comes by, and keeps its dates sorted and distinct.
create or replace function lenses.tg_schedule_calendars_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  new.name := btrim(new.name);
  if new.name is null or char_length(new.name) not between 1 and 200
    or new.name ~ '[[:cntrl:]]' then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'name of a calendar must be 1 to 200 characters on one line, not %s',
        coalesce('"' || left(new.name, 60) || '"', 'NULL')
      ),
      hint = 'For example "company holidays 2026".';
  end if;
  if new.kind is null or new.kind not in ('skip_dates', 'only_dates') then
    raise exception using
      errcode = '22023',
      column = 'kind',
      message = format(
        'kind of a calendar is not known: %s', coalesce('"' || left(new.kind, 60) || '"', 'NULL')
      ) || coalesce(format(
        '; the nearest is "%s"', lenses.fn_closest_word(new.kind, array['skip_dates', 'only_dates'])
      ), ''),
      hint = 'skip_dates: no run on these dates; only_dates: no run on any other.';
  end if;
  if tg_op = 'INSERT' or new.timezone is distinct from old.timezone then
    perform lenses.fn_require_timezone(new.timezone);
  end if;
  new.rules := coalesce(new.rules, '[]');
  new.dates := coalesce(new.dates, '{}');
  if cardinality(new.dates) > 10000 or new.dates = '{}' and new.rules = '[]' then
    raise exception using
      errcode = '22023',
      column = 'dates',
      message = format(
        'a calendar has 1 to 10000 dates, or rules, not %s dates', cardinality(new.dates)
      ),
      hint = 'Give at least one date or rule; to have no calendar, attach none.';
  end if;
  if tg_op = 'INSERT' or lenses.fn_is_changed(new.rules, old.rules) then
    perform lenses.fn_check_json(new.rules, 'rules', 1048576, 64, 50000);
    if octet_length(new.rules::text) > 16384 then
      raise exception using
        errcode = '22023',
        column = 'rules',
        message = format(
          'the rules of a calendar have at most 16384 bytes, not %s',
          octet_length(new.rules::text)),
        hint = 'Refer to a calendar that other calendars share: {"calendar": "<id>"}.';
    end if;
    perform lenses.fn_check_calendar_rules(new.rules);
  end if;
  if exists (
    select from unnest(new.dates) as d (day)
    where d.day between date '1970-01-01' and date '9999-12-31' is not true
      and (tg_op = 'INSERT' or old.dates is distinct from new.dates)
  ) then
    raise exception using
      errcode = '22023',
      column = 'dates',
      message = 'a date of the calendar is outside the years 1970 to 9999: '
        || (select coalesce(d.day::text, 'NULL') from unnest(new.dates) as d (day)
            where d.day between date '1970-01-01' and date '9999-12-31' is not true limit 1),
      hint = 'Give days such as 2026-12-25.';
  end if;
  new.dates := array(select distinct d.day from unnest(new.dates) as d (day) order by d.day);
  if tg_op = 'INSERT' and new.rules <> '[]'
    or tg_op = 'UPDATE' and (new.rules, new.dates) is distinct from (old.rules, old.dates)
  then
    perform lenses.fn_check_calendar_links(new.id, new.lenser_id, new.rules, new.dates);
  end if;
  if tg_op = 'UPDATE' then
    if new.lenser_id <> old.lenser_id then
      raise exception using
        errcode = '22023',
        column = 'lenser_id',
        message = format('calendar "%s" cannot go to another tenant', left(old.name, 60)),
        hint = 'Create another one with the same dates for that tenant.';
    end if;
    if (new.name, new.kind, new.timezone, new.dates, new.rules)
      is distinct from (old.name, old.kind, old.timezone, old.dates, old.rules)
      and new.updated_at = old.updated_at
    then
      new.updated_at := now();
    end if;
  end if;
  return new;
end;
$$;

comment on function lenses.tg_schedule_calendars_check() is
  'Checks name, kind, time zone, dates and rules of a calendar (22023), and sorts the dates.';
