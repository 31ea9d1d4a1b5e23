begin;
select plan(10);

select lives_ok('select automation.fn_check_filter(null)', 'NULL');
select lives_ok($$select automation.fn_check_filter('{}')$$, '{}');
select lives_ok(
  $$select automation.fn_check_filter('{"": {"eq": 1, "neq": 2, "gt": 3, "lt": 4, "contains": 5}}')$$,
  'every operator, with an operand of any type'
);
select throws_ok(
  $$select automation.fn_check_filter('[1]')$$, '22023',
  'filter must be a JSON object, not array [1]'
);
select throws_ok(
  $$select automation.fn_check_filter('{"a": {"eq": 1}}')$$, '22023',
  'filter path "a" is not a JSON Pointer; the nearest is "/a"'
);
select throws_ok(
  $$select automation.fn_check_filter('{"/a~": {"eq": 1}}')$$, '22023',
  'filter path "/a~" is not a JSON Pointer: "~" stands alone'
);
select throws_ok(
  $$select automation.fn_check_filter('{"/a": "x"}')$$, '22023',
  'filter path "/a" must have an object of operators, not string "x"'
);
select throws_ok(
  $$select automation.fn_check_filter('{"/a": {}}')$$, '22023', 'filter path "/a" has no operator'
);
select throws_ok(
  $$select automation.fn_check_filter('{"/a": {"eq": 1, "gte": 1}}')$$, '22023',
  'filter path "/a": unknown operator "gte"; the nearest is "gt"'
);
select throws_ok(
  $$select automation.fn_check_filter(
    jsonb_build_object('/a', jsonb_build_object('eq', repeat('x', 16384)))
  )$$,
  '22023', 'filter is larger than 16384 bytes'
);

select * from finish();
rollback;
