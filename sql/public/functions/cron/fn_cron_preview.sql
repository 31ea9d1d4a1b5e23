-- The next slots of an expression from now on, 1000 at most, for any authenticated caller. It is
-- definer because the schema lenses is not open to tenants; it reads no table.
create or replace function public.fn_cron_preview(
  p_cron_expr text,
  p_timezone text,
  p_n int default 5
)
returns setof timestamptz
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_n, 0) < 1 then
    raise exception using
      errcode = '22023',
      column = 'n',
      message = format('p_n %s is not positive', coalesce(p_n::text, 'NULL')),
      hint = 'Ask for 1 to 1000 slots.';
  end if;
  return query
  select slot
  from lenses.fn_cron_next(p_cron_expr, p_timezone, now(), least(p_n, 1000)) as slot;
end;
$$;

comment on function public.fn_cron_preview(text, text, int) is
  'The next p_n slots of a cron expression after now, at most 1000, on the wall clock of '
  'p_timezone. Raises 22023 for a bad expression or zone, or a p_n that is not positive.';
