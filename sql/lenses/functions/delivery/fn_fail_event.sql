-- owner: lf_sql_engine
-- For consumers (service_role): reports that an event could not be handled.
create or replace function lenses.fn_fail_event(
  p_id bigint,
  p_worker_id text,
  p_error text,
  p_retry_after interval default null
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_retry_after(p_retry_after);
  return lenses.fn_put_off_event(p_id, p_worker_id, null, p_error, p_retry_after, now());
end;
$$;

comment on function lenses.fn_fail_event(bigint, text, text, interval) is
  'Gives an event back that p_worker_id has claimed, with what went wrong (2,000 characters are '
  'kept): it comes again after p_retry_after (a day at most), or by default after half a minute '
  'that doubles with each attempt, an hour at most; after the delivery''s max_attempts it is a '
  'dead letter. False where p_worker_id does not hold it any more. 22023: a p_retry_after that is '
  'out of range.';
