-- Raises 22023 for a pause before the next attempt that is negative or longer than a day. NULL is
-- not checked.
create or replace function lenses.fn_check_retry_after(p_retry_after interval)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  -- Compared as instants too: as an interval, '1 month -30 days' equals nothing. Days are of UTC,
  -- where no clock is turned.
  if p_retry_after < interval '0' or p_retry_after > interval '1 day'
    or now() + p_retry_after < now() or now() + p_retry_after > now() + interval '1 day'
  then
    raise exception using
      errcode = '22023',
      column = 'retry_after',
      message = format('p_retry_after must be 0 to a day, not "%s"', p_retry_after),
      hint = 'Leave it out for the usual pause: of retry_policy (backoffMs), or of the delivery.';
  end if;
end;
$$;

comment on function lenses.fn_check_retry_after(interval) is
  'Raises 22023 unless p_retry_after is 0 to a day, or NULL.';
