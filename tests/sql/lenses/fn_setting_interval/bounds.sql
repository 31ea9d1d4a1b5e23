begin;
select plan(8);

create function pg_temp.span(p_text text) returns text
language plpgsql
as $$
begin
  return lenses.fn_setting_interval(p_text, 'grace', '1 minute', '1 day')::text;
exception when invalid_parameter_value then
  return sqlerrm;
end;
$$;

select is(pg_temp.span(null), null, 'NULL is none');
select is(pg_temp.span('5 minutes'), '00:05:00', 'words');
select is(pg_temp.span('PT5M'), '00:05:00', 'ISO 8601');
select is(pg_temp.span('1 minute'), '00:01:00', 'the shortest');
select is(pg_temp.span('59 seconds'), 'grace is out of range: "59 seconds"', 'too short');
select is(pg_temp.span('25 hours'), 'grace is out of range: "25 hours"', 'too long');
select is(pg_temp.span('soon'), 'grace is not a span of time: "soon"', 'not a span');
select is(pg_temp.span('999999999999 years'), 'grace is not a span of time: "999999999999 years"', 'overflow');

select * from finish();
rollback;
