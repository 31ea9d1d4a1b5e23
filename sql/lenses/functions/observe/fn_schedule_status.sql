-- One word for what is_active and paused_at say together, and whether slots are left.
create or replace function lenses.fn_schedule_status(
  p_is_active boolean,
  p_paused_at timestamptz,
  p_is_finished boolean default false
)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_is_active and p_is_finished then 'finished'
  when p_is_active then 'enabled'
  when p_paused_at is null then 'disabled'
  else 'paused'
end
$$;

comment on function lenses.fn_schedule_status(boolean, timestamptz, boolean) is
  'enabled, finished (active without a slot left), paused or disabled.';
