begin;
select plan(2);

select lenses.fn_worker_heartbeat('old', 'host', 1, false, '0.2.0');
select lenses.fn_worker_heartbeat('new', 'host', 2, true, '0.3.0');
set local role service_role;

select lives_ok($$select lenses.fn_worker_goodbye('old')$$, 'may be called');

reset role;

select results_eq(
  'select worker_id from lenses.worker_heartbeats',
  array['new'],
  'one heartbeat goes'
);

select * from finish();
rollback;
