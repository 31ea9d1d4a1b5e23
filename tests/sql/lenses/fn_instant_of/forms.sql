begin;
select plan(14);

create function pg_temp.instant_of(p_text text) returns text
language plpgsql
as $$
begin
  return to_char(lenses.fn_instant_of(p_text, 'at') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US');
exception when invalid_parameter_value then
  return sqlerrm;
end;
$$;

set local timezone = 'Asia/Tokyo';
set local datestyle = 'SQL, DMY';
select is(pg_temp.instant_of(null), null, 'NULL is none');
select is(pg_temp.instant_of('2031-05-01T09:00:00Z'), '2031-05-01T09:00:00.000000', 'UTC');
select is(pg_temp.instant_of('2031-05-01 09:00+02'), '2031-05-01T07:00:00.000000', 'an offset');
select is(pg_temp.instant_of('2031-05-01T09:00:00.25-03:30'), '2031-05-01T12:30:00.250000', 'fractions');
select is(pg_temp.instant_of('2031-05-01T09:00'), '2031-05-01T09:00:00.000000', 'no zone is UTC, whatever the session''s');
select is(pg_temp.instant_of('2031-05-02'), '2031-05-02T00:00:00.000000', 'a date is its midnight, whatever DateStyle');
select is(pg_temp.instant_of('now'), 'at is not an instant: "now"', 'no words');
select is(pg_temp.instant_of('infinity'), 'at is not an instant: "infinity"', 'no infinity');
select is(pg_temp.instant_of(''), 'at is not an instant: ""', 'empty');
select is(pg_temp.instant_of('2031-13-01'), 'at is not an instant: "2031-13-01"', 'no such month');
select is(pg_temp.instant_of('2031-01-01T25:00Z'), 'at is not an instant: "2031-01-01T25:00Z"', 'no such hour');
select is(pg_temp.instant_of('2031-01-01T00:00+77'), 'at is not an instant: "2031-01-01T00:00+77"', 'no such offset');
select is(pg_temp.instant_of('2031-01-01 00:00 CET'), 'at is not an instant: "2031-01-01 00:00 CET"', 'no abbreviation');
select is(pg_temp.instant_of('31-01-01'), 'at is not an instant: "31-01-01"', 'four digits a year');

select * from finish();
rollback;
