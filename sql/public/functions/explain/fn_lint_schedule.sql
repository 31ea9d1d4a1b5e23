-- For the owner: one of the caller's schedules, or all. For service_role: any, or those of all
-- tenants.
create or replace function public.fn_lint_schedule(p_schedule_id uuid default null)
returns table (schedule_id uuid, code text, severity text, message text, hint text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lenses.fn_is_operator() then
    return query select * from lenses.fn_lint_schedule(p_schedule_id);
  else
    if p_schedule_id is not null then
      perform lenses.fn_require_schedule(p_schedule_id);
    end if;
    return query select * from lenses.fn_lint_schedule(p_schedule_id, lensers.fn_require_lenser());
  end if;
end;
$$;

comment on function public.fn_lint_schedule(uuid) is
  'Likely mistakes of a schedule of the caller''s (NULL: all of them; service_role: of any): '
  'schedule_id, code, severity (info, warning, error), message, hint, as of '
  'lenses.fn_lint_schedule. 42501: not the caller''s schedule.';
