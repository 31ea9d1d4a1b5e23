-- The owner's preview: lenses.fn_preview_schedule_ticks behind the check of whose schedule it is.
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
declare
  v_lenser_id uuid := lensers.get_auth_lenser_id();
begin
  if not exists (
    select from lenses.workflow_schedules as s
    where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  ) then
    raise exception 'schedule % is not yours or does not exist', p_schedule_id
      using errcode = '42501', hint = 'List yours with fn_workflow_get_schedules().';
  end if;
  return query select * from lenses.fn_preview_schedule_ticks(p_schedule_id, p_n, p_horizon);
end
$$;

comment on function public.fn_preview_schedule_ticks(uuid, integer, interval) is 'The next p_n slots (at most 200) of a schedule of the caller''s: tick_at, decision, reason, inputs. Errors: 42501 for a schedule that is not the caller''s; 22023 for p_n or p_horizon not positive.';
