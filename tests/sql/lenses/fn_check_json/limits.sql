begin;
select plan(17);

create function pg_temp.check_json(p_value jsonb, p_bytes int, p_depth int, p_nodes int) returns text
language plpgsql
as $$
begin
  perform lenses.fn_check_json(p_value, 'thing', p_bytes, p_depth, p_nodes);
  return 'fine';
exception when invalid_parameter_value then
  return sqlerrm;
end;
$$;

select is(pg_temp.check_json(null, 0, 0, 0), 'fine', 'NULL is within every limit');
select is(pg_temp.check_json('{"a": 1}', 8, 1, 2), 'fine', 'at every limit at once');
select is(pg_temp.check_json('{"a": 1}', 7, 1, 2), 'thing is larger than 7 bytes', 'a byte too many');
select is(
  pg_temp.check_json('{"a": 1}', 8, 0, 2), 'thing is nested more than 0 levels deep', 'a level too many'
);
select is(pg_temp.check_json('{"a": 1}', 8, 1, 1), 'thing holds more than 1 values', 'a value too many');
select is(pg_temp.check_json('1', 1, 0, 1), 'fine', 'a scalar has no depth');
select is(pg_temp.check_json('"é"', 3, 0, 1), 'thing is larger than 3 bytes', 'bytes, not characters');

-- [{}, [], {"x": [1, "[,{", null]}] is 8 values in 3 levels
select is(pg_temp.check_json('[{}, [], {"x": [1, "[,{", null]}]', 99, 3, 8), 'fine', 'all kinds');
select is(
  pg_temp.check_json('[{}, [], {"x": [1, "[,{", null]}]', 99, 3, 7), 'thing holds more than 7 values',
  'all kinds, one less'
);
select is(
  pg_temp.check_json('[{}, [], {"x": [1, "[,{", null]}]', 99, 2, 8),
  'thing is nested more than 2 levels deep', 'all kinds, one level less'
);
select is(
  pg_temp.check_json('["\\", "\"[[[[", "\\\"{{{", {"\"}]": "]"}]', 99, 2, 6), 'fine', 'quoted quotes'
);

select is(pg_temp.check_json(to_jsonb(repeat('9', 40)::numeric), 99, 0, 1), 'fine', '40 digits');
select is(
  pg_temp.check_json(to_jsonb(repeat('9', 41)::numeric), 99, 0, 1),
  'thing holds a number of more than 40 digits', '41 digits'
);
select is(
  pg_temp.check_json('{"a": [1e-40]}', 99, 2, 3), 'thing holds a number of more than 40 digits',
  '41 digits, most of them after the point'
);
select is(pg_temp.check_json(to_jsonb(repeat('9', 60)), 99, 0, 1), 'fine', 'a string of digits');

select is(
  pg_temp.check_json((repeat('[', 6000) || repeat(']', 6000))::jsonb, 100000, 64, 10000),
  'thing is nested more than 64 levels deep', '6,000 levels take no stack'
);
select is(
  pg_temp.check_json((select jsonb_agg(n) from generate_series(1, 1000000) n), 16384, 64, 256),
  'thing is larger than 16384 bytes', 'a million elements'
);

select * from finish();
rollback;
