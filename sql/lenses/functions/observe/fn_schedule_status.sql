-- One word for what is_active and paused_at say together.
create or replace function lenses.fn_schedule_status(p_is_active boolean, p_paused_at timestamptz)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_is_active then 'enabled'
  when p_paused_at is null then 'disabled'
  else 'paused'
end
$$;

comment on function lenses.fn_schedule_status(boolean, timestamptz) is
  'enabled, paused or disabled.';
