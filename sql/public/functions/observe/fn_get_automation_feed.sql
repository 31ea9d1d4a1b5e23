-- For the owner. A page has 500 items at most.
create or replace function public.fn_get_automation_feed(p_limit integer default 50)
returns setof agents.automation_feed
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  if p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('limit is "%s"; it cannot be negative', p_limit),
      hint = 'Give 1 to 500.';
  end if;
  return query
  select f.*
  from agents.automation_feed as f
  where f.lenser_id = v_lenser_id
  order by f.occurred_at desc, f.id
  limit least(coalesce(p_limit, 50), 500);
end;
$$;

comment on function public.fn_get_automation_feed(integer) is
  'The caller''s newest p_limit (at most 500) items of agents.automation_feed, newest first. '
  '22023: a negative limit; 42501: no caller.';
