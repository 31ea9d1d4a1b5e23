begin;
select plan(3);

select is(
  lenses.fn_workflow_actions(
    '{"nodes": [{"id": "1", "action": "spend"}, {"id": "2", "action": "publish"}, {"id": "3"},
      {"id": "4", "action": "spend"}, {"id": "5", "action": null}]}'
  ), '{publish,spend}', 'sorted, each once'
);
select is(lenses.fn_workflow_actions('{}'), '{}', 'none');
select is(lenses.fn_workflow_actions('{"nodes": [5, {"action": ["x"]}]}'), '{}', 'nothing malformed');

select * from finish();
rollback;
