begin;
select plan(6);

insert into lensers.profiles (id, user_id) values
  ('0000000a-0000-4000-8000-000000000001', '0000000a-0000-4000-8000-000000000002'),
  ('0000000b-0000-4000-8000-000000000001', '0000000b-0000-4000-8000-000000000002');
insert into lenses.workflows (id, lenser_id) values
  ('0000000a-0000-4000-8000-000000000003', '0000000a-0000-4000-8000-000000000001'),
  ('0000000a-0000-4000-8000-000000000004', '0000000a-0000-4000-8000-000000000001'),
  ('0000000b-0000-4000-8000-000000000003', '0000000b-0000-4000-8000-000000000001');
insert into lenses.workflow_schedules (workflow_id, cron_expr)
select id, '0 9 * * *' from lenses.workflows where lenser_id in (
  '0000000a-0000-4000-8000-000000000001', '0000000b-0000-4000-8000-000000000001'
);

select function_returns('public', 'fn_workflow_get_schedules', 'setof lenses.workflow_schedules', 'lists rows');
select volatility_is('public', 'fn_workflow_get_schedules', 'stable', 'read-only for PostgREST');

select set_config('request.jwt.claims', '{"sub":"0000000a-0000-4000-8000-000000000002"}', true) \gset
select is(
  (select count(*) from public.fn_workflow_get_schedules()), 2::bigint, 'all of the caller''s'
);
select is(
  (select count(*) from public.fn_workflow_get_schedules('0000000a-0000-4000-8000-000000000003')), 1::bigint,
  'one workflow''s'
);
select throws_ok(
  $$select public.fn_workflow_get_schedules('0000000b-0000-4000-8000-000000000003')$$,
  '42501', 'there is no such workflow of yours', 'a stranger''s'
);
select throws_ok(
  $$select public.fn_workflow_get_schedules('0000000c-0000-4000-8000-000000000003')$$,
  '42501', 'there is no such workflow of yours', 'nobody''s'
);

select * from finish();
rollback;
