-- Every instant of a row that is written by hand lies in the years 1970 to 9999: clients, and
-- Python among them, know no others. Columns are told by their names, as this tree has them; what
-- did not change is not judged.
create or replace function lenses.tg_check_instants()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_old constant jsonb := case tg_op when 'UPDATE' then to_jsonb(old) else '{}' end;
begin
  perform lenses.fn_check_instant(e.value::timestamptz, e.key, (v_old ->> e.key)::timestamptz)
  from jsonb_each_text(to_jsonb(new)) as e
  where e.value is not null
    and (e.key ~ '_at$' or e.key in (
      'scheduled_for', 'paused_until', 'seen_until', 'missed_before', 'silent_since'));
  return new;
end;
$$;

comment on function lenses.tg_check_instants() is
  'Refuses (22023) an instant outside the years 1970 to 9999.';
