begin;
select plan(10);

create function pg_temp.check_policy(p_policy jsonb) returns text
language plpgsql
as $$
begin
  perform lenses.fn_check_policy('rules', p_policy, '{
    "yes": {"type": "boolean"},
    "count": {"type": "integer", "min": 2, "max": 4},
    "one": {"type": "word", "values": ["left", "right"]},
    "id": {"type": "uuid"},
    "free": {"type": "words", "max": 2, "length": 3},
    "some": {"type": "words", "max": 2, "length": 9, "values": ["left", "right"]}
  }');
  return 'fine';
exception when invalid_parameter_value then
  return sqlerrm;
end;
$$;

select is(
  pg_temp.check_policy('{"yes": true, "count": 3, "one": "left", "free": ["abc"], "some": ["right"],
    "id": "0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13"}'),
  'fine', 'all that is right'
);
select is(pg_temp.check_policy('[]'), 'rules must be a JSON object, not []');
select is(pg_temp.check_policy('{"yes": 1}'), 'rules.yes must be true or false, not number 1');
select is(pg_temp.check_policy('{"count": 5}'), 'rules.count is 5; the nearest allowed is 4');
select is(pg_temp.check_policy('{"count": 2.5}'), 'rules.count is 2.5; the nearest whole number is 3');
select is(
  pg_temp.check_policy('{"one": "rigth"}'), 'rules.one: unknown value "rigth"; the nearest is "right"'
);
select is(pg_temp.check_policy('{"id": "x"}'), 'rules.id is not a uuid: "x"');
select is(pg_temp.check_policy('{"free": ["abcd"]}'), 'rules.free: bad entry "abcd"');
select is(
  pg_temp.check_policy('{"some": ["lift"]}'), 'rules.some: bad entry "lift"; the nearest is "left"'
);
select is(
  pg_temp.check_policy('{"Count": 3}'), 'rules: unknown key "Count"; the nearest is "count"'
);

select * from finish();
rollback;
