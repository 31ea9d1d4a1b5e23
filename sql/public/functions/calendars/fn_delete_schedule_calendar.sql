-- For the owner.
create or replace function public.fn_delete_schedule_calendar(p_calendar_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
begin
  begin
    delete from lenses.schedule_calendars as c
    where c.id = p_calendar_id and c.lenser_id = v_lenser_id;
    if found then
      return;
    end if;
  exception when foreign_key_violation then
    if not exists (
      select from lenses.workflow_schedules as s
      where s.calendar_id = p_calendar_id and s.lenser_id = v_lenser_id)
    then
      raise;
    end if;
    raise exception using
      errcode = '23503',
      message = format('the calendar "%s" is attached', (
        select c.name from lenses.schedule_calendars as c
        where c.id = p_calendar_id and c.lenser_id = v_lenser_id
      )),
      detail = (
        select format('Schedules that have it: %s (%s%s).', count(*), string_agg(
            left(q.label, 60), ', ' order by q.label) filter (where q.place <= 3),
          case when count(*) > 3 then ', …' else '' end)
        from (
          select n.label, row_number() over (order by n.label) as place
          from lenses.workflow_schedules as s
          inner join lenses.workflows as w on w.id = s.workflow_id and w.lenser_id = v_lenser_id
          cross join lateral (
            select lenses.fn_schedule_label(s.name, s.description, w.title) as label
          ) as n
          where s.calendar_id = p_calendar_id and s.lenser_id = v_lenser_id
        ) as q
      ),
      hint = 'Detach it first: lf-sql schedule calendar detach, or '
        'fn_set_schedule_calendar(schedule, null).';
  end;
  perform lenses.fn_require_calendar(p_calendar_id);
end;
$$;

comment on function public.fn_delete_schedule_calendar(uuid) is
  'Deletes the caller''s calendar. 23503: a schedule has it attached, or another calendar refers '
  'to it; 42501: not the caller''s, or a seed.';
