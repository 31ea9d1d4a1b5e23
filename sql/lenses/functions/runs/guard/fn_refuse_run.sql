-- The one refusal that a stranger's run and an unknown id share, byte for byte.
create or replace function lenses.fn_refuse_run()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '42501',
    message = 'there is no such run of yours',
    hint = 'public.fn_get_runs() lists yours.';
end;
$$;
