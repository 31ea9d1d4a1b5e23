begin;
select plan(9);

select throws_ok(
  format('select automation.fn_eval_filter(%L, %L)', f, '{"a": 2}'), '22023', null,
  'refused at evaluation: ' || left(f, 40)
)
from unnest(array[
  '[]', '"x"', '{"/a": 1}', '{"/a": {}}', '{"/a": {"gte": 1}}', '{"a": {"eq": 1}}', '{"/~2": {"eq": 1}}',
  '{"/a": {"eq": 1}, "/b": {"gte": 1}}',
  '{"/a": {"eq": "' || repeat('x', 16384) || '"}}'
]) f;

select * from finish();
rollback;
