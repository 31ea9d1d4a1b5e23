begin;
select plan(3);

select is(lenses.fn_schedule_status(true, null), 'enabled', 'active');
select is(lenses.fn_schedule_status(false, null), 'disabled', 'inactive without a pause');
select is(lenses.fn_schedule_status(false, now()), 'paused', 'inactive in a pause');

select * from finish();
rollback;
