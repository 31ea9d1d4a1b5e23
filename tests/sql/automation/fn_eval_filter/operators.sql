begin;
select plan(15);

create function pg_temp.holds(p_filter jsonb, p_payload jsonb) returns boolean
language sql
return automation.fn_eval_filter(p_filter, p_payload);

select ok(pg_temp.holds(null, '{"a": 1}'), 'NULL is true');
select ok(pg_temp.holds('{}', null), '{} is true, even of nothing');
select ok(pg_temp.holds('{"/a": {"eq": {"y": 1, "x": [1.0]}}}', '{"a": {"x": [1], "y": 1}}'), 'eq');
select ok(not pg_temp.holds('{"/a": {"eq": 1}}', '{"a": "1"}'), 'eq is strict about types');
select ok(pg_temp.holds('{"/a": {"eq": null}}', '{}'), 'a missing path equals null');
select ok(pg_temp.holds('{"/a": {"neq": 1}}', '{}'), 'a missing path is not 1');
select ok(not pg_temp.holds('{"/a": {"neq": null}}', '{"a": null}'), 'neq is not eq');
select ok(pg_temp.holds('{"/a": {"gt": 1, "lt": 3}}', '{"a": 2}'), 'all operators must hold');
select ok(not pg_temp.holds('{"/a": {"gt": 1, "lt": 2}}', '{"a": 2}'), 'one that fails is enough');
select ok(not pg_temp.holds('{"/a": {"gt": 1}}', '{}'), 'a missing path is not greater');
select ok(
  not pg_temp.holds('{"/a": {"gt": "a"}}', '{"a": "b"}'), 'strings that are no instants have no order'
);
select ok(pg_temp.holds('{"/a": {"contains": "b"}}', '{"a": "abc"}'), 'a substring');
select ok(
  not pg_temp.holds('{"/a": {"contains": {"x": 1}}}', '{"a": [{"x": 1, "y": 2}]}'),
  'a part of an element is no element'
);
select ok(
  pg_temp.holds('{"/a": {"eq": 1}, "/b": {"eq": 2}}', '{"a": 1, "b": 2}')
  and not pg_temp.holds('{"/a": {"eq": 1}, "/b": {"eq": 2}}', '{"a": 1, "b": 3}'),
  'all paths must hold'
);
select is(
  pg_temp.holds(
    '{"/prior_run_result/status": {"eq": "completed"}, "/last_24h_stats/failed": {"lt": 3}}',
    '{"prior_run_result": {"status": "completed"}, "signal_rpc_result": null,
      "last_24h_stats": {"succeeded": 3, "failed": 1, "total": 4}}'
  ),
  true, 'the example of the documentation'
);

select * from finish();
rollback;
