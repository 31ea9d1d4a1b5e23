begin;
select plan(7);

create function pg_temp.cycle(variadic p_edges text[]) returns text[]
language sql
return lenses.fn_workflow_cycle(jsonb_build_object('edges', (
  select jsonb_agg(jsonb_build_object('from', left(e, 1), 'to', right(e, 1))) from unnest(p_edges) e
)));

select is(lenses.fn_workflow_cycle('{}'), null, 'no edges');
select is(pg_temp.cycle('ab', 'ac', 'bd', 'cd'), null, 'two ways to one node');
select is(pg_temp.cycle('aa'), '{a,a}', 'a self-loop');
select is(pg_temp.cycle('ab', 'bc', 'ca'), '{a,b,c,a}', 'a ring');
select is(pg_temp.cycle('ab', 'bc', 'cb', 'cd'), '{b,c,b}', 'what leads to it and away is left out');
select is(pg_temp.cycle('xy', 'pq', 'qp'), '{p,q,p}', 'in one part of two');
select is(lenses.fn_workflow_cycle('{"edges": [1, {"from": "a"}]}'), null, 'what is no edge');

select * from finish();
rollback;
