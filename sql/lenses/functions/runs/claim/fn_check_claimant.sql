-- Raises 22023 for a worker id or lease that an executor cannot have. A NULL p_lease is not
-- checked.
create or replace function lenses.fn_check_claimant(p_worker_id text, p_lease interval)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_worker_id is null or p_worker_id !~ '[^[:space:]]' or char_length(p_worker_id) > 200 then
    raise exception using
      errcode = '22023',
      column = 'worker_id',
      message = format(
        'p_worker_id must be 1 to 200 characters, not %s',
        coalesce('"' || left(p_worker_id, 60) || '"', 'NULL')
      ),
      hint = 'Take a name that is new with each start of the process, such as host and pid.';
  end if;
  -- Compared as instants too: as an interval, '1 month -30 days' equals nothing. Days are of UTC,
  -- where no clock is turned.
  if p_lease <= interval '0' or p_lease > interval '1 day'
    or now() + p_lease <= now() or now() + p_lease > now() + interval '1 day'
  then
    raise exception using
      errcode = '22023',
      column = 'lease',
      message = format('p_lease must be more than 0 and at most a day, not "%s"', p_lease),
      hint = 'Take a short lease and extend it by heartbeats.';
  end if;
end;
$$;
