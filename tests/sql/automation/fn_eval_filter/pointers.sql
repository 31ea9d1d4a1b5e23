begin;
select plan(26);

create function pg_temp.finds(p_pointer text, p_document jsonb, p_value jsonb) returns boolean
language sql
return automation.fn_eval_filter(
  jsonb_build_object(p_pointer, jsonb_build_object('eq', p_value)), p_document
);

select ok(pg_temp.finds(p, '{"/": 9, "~1": 10, "~": 11, "~0": 12, "": 13}', v), 'escape ' || p)
from (values ('/~1', '9'::jsonb), ('/~01', '10'), ('/~0', '11'), ('/~00', '12'), ('/', '13')) t (p, v);
select ok(pg_temp.finds('', '{"a": 1}', '{"a": 1}'), 'the empty pointer is the whole document');

select ok(pg_temp.finds(p, '["x", "y"]', v), 'index ' || p)
from (values ('/0', '"x"'::jsonb), ('/1', '"y"'), ('/2', 'null')) t (p, v);
select ok(pg_temp.finds(p, '["x", "y"]', 'null'), 'no index: ' || to_json(p))
from unnest(array[
  '/', '/01', '/00', '/-1', '/+1', '/ 1', e'/1\n', '/1e0', '/-', '/99999999999999999999', '/2147483648'
]) p;
select ok(pg_temp.finds('/-1', '{"-1": 5}', '5'), 'what is no index is a name in an object');

select ok(pg_temp.finds('/', '[5]', 'null'), 'the empty token is not the first element');
select ok(pg_temp.finds('/a/', '{"a": [5]}', 'null'), 'nor further in');
select ok(pg_temp.finds('/', '{"": 7}', '7'), 'it is the empty name');
select ok(pg_temp.finds('/0', '5', 'null'), 'a scalar has no elements');
select ok(pg_temp.finds('', '5', '5'), 'but is itself');

select * from finish();
rollback;
