-- What carries no pinned path looks nothing up by one: each type, function and operator in it is qualified, and none of
-- the constructs that hide an operator (NULLIF, IN, LIKE, BETWEEN, a CASE with an operand) is used.
-- breaks: create procedure lenses.planted() language plpgsql as $$ begin if pg_catalog.now() >= 'epoch'::pg_catalog.timestamptz then commit; end if; end $$
select b.identity || ': ' || m[1]
from (
  select
    f.identity,
    regexp_replace(
      regexp_replace(f.body, '''[^'']*''', ' ', 'g'),
      'operator\(pg_catalog\.[^)]*\)|:=|=>|::(?=pg_catalog\.)', ' ', 'g'
    ) as body
  from our_functions as f
  where not exists (select from unnest(f.proconfig) as s where s = 'search_path=pg_catalog, pg_temp')
) as b
cross join lateral regexp_matches(
  b.body,
  '([-+*/<>=~!@#%^&|`?:]+|\m(?:nullif|in|like|ilike|between|similar|overlaps|any|all|some|case|distinct)\M'
  || '|(?<![.\w])(?!(?:coalesce|exists|row)\M)[a-z_]\w*\s*\('
  || '|(?<=\mv_\w{1,40}\s)(?:constant\s+)?(?:text|uuid|timestamptz|jsonb|name|date|interval|bytea|oid|bool|int[248])\M)', 'g'
) as m
