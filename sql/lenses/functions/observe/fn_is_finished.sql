-- Whether a schedule will never have a slot again: its single slot, or its window, is over. A
-- schedule without a next slot may also wait for a zone that the server has lost.
create or replace function lenses.fn_is_finished(
  p_schedule_type text,
  p_next_run_at timestamptz,
  p_end_at timestamptz
)
returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select p_next_run_at is null and (p_schedule_type = 'once' or p_end_at is not null)
$$;
