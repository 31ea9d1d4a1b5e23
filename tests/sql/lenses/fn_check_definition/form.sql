begin;
select plan(10);

select lives_ok($$select lenses.fn_check_definition('{}')$$, 'the empty graph');
select lives_ok(
  $$select lenses.fn_check_definition('{"nodes": [{"id": "a", "action": "publish"}, {"id": "b"}],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
    "triggers": [{"id": "t", "type": "schedule_based", "cron_expr": "0 3 * * *", "timezone": "UTC"}]}')$$,
  'a cycle is a definition'
);
select throws_ok(
  $$select lenses.fn_check_definition('[]')$$, '22023', 'definition must be a JSON object, not []'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"nodes": {}}')$$, '22023',
  'definition.nodes must be an array, not {}'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"nodes": [{"id": "a"}, {"id": ""}]}')$$, '22023',
  'definition.nodes[1] has no id: {"id": ""}'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"nodes": [{"id": "a"}, {"id": "a"}]}')$$, '22023',
  'definition.nodes: the id "a" is used twice'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "b"}]}')$$,
  '22023', 'definition.edges[0] names a node "b" that is not there'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"nodes": [{"id": "a", "action": 5}]}')$$, '22023',
  'definition: the action of node "a" must be a string, not 5'
);
select throws_ok(
  $$select lenses.fn_check_definition('{"triggers": [{"id": "t", "type": "schedule_based"}]}')$$,
  '22023', 'definition: trigger "t" has no time'
);
select throws_ok(
  $$select lenses.fn_check_definition(
    '{"triggers": [{"id": "t", "type": "schedule_based", "cron": "0 3 * * *"}]}'
  )$$, '22023', 'definition: trigger "t": unknown key "cron"; the nearest is "cron_expr"'
);

select * from finish();
rollback;
