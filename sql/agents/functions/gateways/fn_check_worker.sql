-- Raises 22023 for a worker id, limit or lease that a gateway's runtime cannot have. A NULL p_limit
-- or p_lease is not checked.
create or replace function agents.fn_check_worker(p_worker_id text, p_limit int, p_lease interval)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_worker_id is null or p_worker_id ~ '^[[:space:]]*$' or char_length(p_worker_id) > 200 then
    raise exception using
      errcode = '22023',
      column = 'worker_id',
      message = format('p_worker_id must be 1 to 200 characters, not "%s"', left(p_worker_id, 60)),
      hint = 'Use a name that is new with each start of the process, such as host and pid.';
  end if;
  if p_limit not between 1 and 1000 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must be 1 to 1000, not %s', p_limit),
      hint = 'Claim as many runs as you can work on at once.';
  end if;
  if p_lease not between interval '1 second' and interval '1 day' then
    raise exception using
      errcode = '22023',
      column = 'lease',
      message = format('p_lease must be a second to a day, not "%s"', p_lease),
      hint = 'Take a short lease and extend it by heartbeats.';
  end if;
end;
$$;

comment on function agents.fn_check_worker(text, int, interval) is
  'Raises 22023 unless p_worker_id has 1 to 200 characters, p_limit is 1 to 1000 and p_lease a '
  'second to a day.';
