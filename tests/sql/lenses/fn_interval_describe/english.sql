begin;
select plan(6);

select is(lenses.fn_interval_describe(300000), 'Every 5 minutes', 'many');
select is(lenses.fn_interval_describe(3600000), 'Every hour', 'one alone has no number');
select is(lenses.fn_interval_describe(86400000), 'Every day', 'a day');
select is(lenses.fn_interval_describe(5400000), 'Every 1 hour 30 minutes', 'one and many');
select is(lenses.fn_interval_describe(90061001), 'Every 1 day 1 hour 1 minute 1 second 1 millisecond', 'all');
select is(lenses.fn_interval_describe(300500), 'Every 5 minutes 500 milliseconds', 'below a second');

select * from finish();
rollback;
