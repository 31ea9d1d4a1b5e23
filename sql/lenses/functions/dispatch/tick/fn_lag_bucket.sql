-- The histogram bucket of a lag: the smallest bound, in milliseconds, that is not below it.
create or replace function lenses.fn_lag_bucket(p_lag_ms numeric)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_lag_ms <= 50 then '50'
  when p_lag_ms <= 100 then '100'
  when p_lag_ms <= 250 then '250'
  when p_lag_ms <= 500 then '500'
  when p_lag_ms <= 1000 then '1000'
  when p_lag_ms <= 2500 then '2500'
  when p_lag_ms <= 5000 then '5000'
  when p_lag_ms <= 10000 then '10000'
  when p_lag_ms <= 30000 then '30000'
  when p_lag_ms <= 60000 then '60000'
  when p_lag_ms <= 300000 then '300000'
  when p_lag_ms <= 3600000 then '3600000'
  else '+Inf'
end
$$;

comment on function lenses.fn_lag_bucket(numeric) is
  'Upper bound, in ms, of the bucket of dispatch_ticks.lag that a lag falls into.';
