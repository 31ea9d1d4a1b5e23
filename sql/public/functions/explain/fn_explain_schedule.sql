-- The explanation for the owner of the schedule, and for service_role, who may ask about any.
create or replace function public.fn_explain_schedule(p_schedule_id uuid, p_at timestamptz)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_is_operator() then
    perform lenses.fn_require_schedule(p_schedule_id);
  end if;
  return lenses.fn_explain_schedule(p_schedule_id, p_at);
end;
$$;

comment on function public.fn_explain_schedule(uuid, timestamptz) is
  'Why a schedule of the caller''s (service_role: of any) fires, fired or does not in the minute '
  'of p_at: jsonb as of lenses.fn_explain_schedule. 42501: not the caller''s schedule; 22023: '
  'p_at is no instant of the years 1970 to 9999.';
