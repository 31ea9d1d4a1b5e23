-- The preview for the owner of the schedule, and for service_role, who may preview any.
create or replace function public.fn_preview_schedule_ticks(
  p_schedule_id uuid,
  p_n integer default 10,
  p_horizon interval default '31 days'
)
returns table (tick_at timestamptz, decision text, reason text, inputs jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_is_operator() then
    perform lenses.fn_require_schedule(p_schedule_id);
  end if;
  return query select * from lenses.fn_preview_schedule_ticks(p_schedule_id, p_n, p_horizon);
end;
$$;

comment on function public.fn_preview_schedule_ticks(uuid, integer, interval) is
  'The next p_n slots (at most 200, and as many as have 16 MB of inputs) of a schedule of the '
  'caller''s (service_role: of any): tick_at, decision, reason, inputs. Errors: 42501 for a '
  'schedule that is not the caller''s; 22023 for p_n or p_horizon not positive.';
