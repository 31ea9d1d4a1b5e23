-- For service_role: lenses.fn_book_run_credits, where callers reach only this schema.
create or replace function public.fn_book_run_credits(
  p_run_id uuid,
  p_worker_id text,
  p_attempt integer,
  p_spent_credits numeric
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_book_run_credits(p_run_id, p_worker_id, p_attempt, p_spent_credits)
$$;

comment on function public.fn_book_run_credits(uuid, text, integer, numeric) is
  'As lenses.fn_book_run_credits.';
