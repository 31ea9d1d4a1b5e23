begin;

select plan(4);

create function pg_temp.decisions(p_left bigint) returns text language sql as $$
select string_agg(d.decision || coalesce(':' || d.reason, ''), ' ' order by d.ordinality)
from unnest(lenses.fn_cap_decisions(array(
  select jsonb_populate_record(
    null::lenses.slot_decision, jsonb_build_object('decision', w.decision))
  from unnest(array['dispatch', 'skip', 'dispatch', 'dispatch'])
    with ordinality as w (decision, place)
  order by w.place
), p_left)) with ordinality as d
$$;

select is(pg_temp.decisions(null), 'dispatch skip dispatch dispatch', 'NULL is no limit');
select is(
  pg_temp.decisions(2), 'dispatch skip dispatch skip:budget_exceeded', 'skips do not count'
);
select is(
  pg_temp.decisions(0),
  'skip:budget_exceeded skip skip:budget_exceeded skip:budget_exceeded', 'none left'
);
select is(
  pg_temp.decisions(-1),
  'skip:budget_exceeded skip skip:budget_exceeded skip:budget_exceeded', 'less than none'
);

select * from finish();

rollback;
