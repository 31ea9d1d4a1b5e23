-- Raises 22023 for a worker id, limit or lease that a gateway's runtime cannot have. A NULL p_limit
-- or p_lease is not checked.
create or replace function agents.fn_check_worker(p_worker_id text, p_limit int, p_lease interval)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_claimant(p_worker_id, p_lease);
  if p_limit not between 1 and 1000 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must be 1 to 1000, not %s', p_limit),
      hint = 'Claim as many runs as you can work on at once.';
  end if;
end;
$$;

comment on function agents.fn_check_worker(text, int, interval) is
  'Raises 22023 unless p_worker_id has 1 to 200 characters, p_limit is 1 to 1000 and p_lease more '
  'than 0 and at most a day.';
