-- For service_role: lenses.fn_test_delivery, where callers reach only this schema.
create or replace function public.fn_test_delivery(
  p_name text,
  p_test_id bigint default null,
  p_gives_up boolean default false
)
returns jsonb
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_test_delivery(p_name, p_test_id, p_gives_up)
$$;

comment on function public.fn_test_delivery(text, bigint, boolean) is
  'As lenses.fn_test_delivery.';
