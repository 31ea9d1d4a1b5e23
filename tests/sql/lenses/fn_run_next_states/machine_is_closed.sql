begin;

select plan(4);

select set_eq(
  $$select unnest(lenses.fn_run_next_states('running'))$$,
  array['pending', 'completed', 'failed', 'cancelled', 'timed_out'],
  'a running run ends or is tried again'
);

select is_empty(
  $$
  select s.status
  from unnest(array['completed', 'failed', 'cancelled', 'timed_out']) as s (status)
  where lenses.fn_run_next_states(s.status) <> '{}'
  $$,
  'what is over stays over'
);

select ok(
  'running' <> all (lenses.fn_run_next_states('pending_approval')),
  'nothing runs straight out of waiting'
);

select is(lenses.fn_run_next_states('no such status'), '{}', 'an unknown status leads nowhere');

select * from finish();

rollback;
