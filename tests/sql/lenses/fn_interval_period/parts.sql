begin;
select plan(6);

select is(lenses.fn_interval_period(300000), '5m', 'minutes');
select is(lenses.fn_interval_period(21600000), '6h', 'hours');
select is(lenses.fn_interval_period(86400000), '1d', 'days');
select is(lenses.fn_interval_period(5400000), '1h 30m', 'parts that are 0 are left out');
select is(lenses.fn_interval_period(90061001), '1d 1h 1m 1s 1ms', 'every part');
select is(lenses.fn_interval_period(316224000000), '3660d', 'the longest');

select * from finish();
rollback;
