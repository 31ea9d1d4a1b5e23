-- For the RPCs: the caller's own calendar, or the one refusal that a stranger's id and an unknown
-- id share, byte for byte. Seeds, which everyone sees, are refused in words of their own.
create or replace function lenses.fn_require_calendar(p_calendar_id uuid)
returns lenses.schedule_calendars
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_row lenses.schedule_calendars;
begin
  select c.* into v_row
  from lenses.schedule_calendars as c
  where c.id = p_calendar_id and (c.lenser_id = v_lenser_id or c.lenser_id is null);
  if not found then
    raise exception using
      errcode = '42501',
      message = 'there is no such calendar of yours',
      hint = 'public.fn_get_schedule_calendars() lists yours.';
  elsif v_row.lenser_id is null then
    raise exception using
      errcode = '42501',
      message = format('the calendar "%s" comes with the product and is read-only', v_row.name),
      hint = 'Clone it: fn_create_schedule_calendar(…, p_clone_of => its id).';
  end if;
  return v_row;
end;
$$;

comment on function lenses.fn_require_calendar(uuid) is
  'The caller''s calendar of that id; 42501 for any other id, seeds too.';
