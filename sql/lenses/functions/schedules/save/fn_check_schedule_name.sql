-- owner: lf_sql_engine
-- A schedule's name is 1 to 200 characters on one line (22023), and unique within the tenant
-- (23505). Between two saves at once the unique index decides.
create or replace function lenses.fn_check_schedule_name(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_new.name is null or (p_new.name, p_new.lenser_id) = (p_old.name, p_old.lenser_id) then
    return;
  elsif char_length(p_new.name) not between 1 and 200 or p_new.name ~ '[[:cntrl:]]'
    or p_new.name !~ '[^[:space:]]' then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'name of a schedule must be 1 to 200 characters on one line, not "%s"', left(p_new.name, 60)
      ),
      hint = 'For example "morning report", or NULL for none.';
  elsif exists (
    select from lenses.workflow_schedules as s
    where s.lenser_id = p_new.lenser_id and s.name = p_new.name and s.id <> p_new.id) then
    raise exception using
      errcode = '23505',
      column = 'name',
      message = format('there is a schedule named "%s" already', left(p_new.name, 200)),
      hint = 'Names are unique to a tenant, and capitals count; choose another, or change that '
        'one.';
  end if;
end;
$$;
