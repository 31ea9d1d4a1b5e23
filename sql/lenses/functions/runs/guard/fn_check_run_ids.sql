-- Raises 22023 where a call about many runs names none, too many, or NULL among them.
create or replace function lenses.fn_check_run_ids(p_run_ids uuid[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_run_ids is null or exists (select from unnest(p_run_ids) as u (id) where u.id is null) then
    raise exception using
      errcode = '22023',
      column = 'run_ids',
      message = 'p_run_ids holds NULL, or is NULL itself',
      hint = 'Give an array of ids of runs; an empty one does nothing.';
  elsif cardinality(p_run_ids) > 1000 then
    raise exception using
      errcode = '22023',
      column = 'run_ids',
      message = format('p_run_ids has %s ids; at most 1000 are allowed', cardinality(p_run_ids)),
      hint = 'Call again with the rest.';
  end if;
end;
$$;
