-- An interval in one or two words, short enough for a line of health: "3 min", "2 h", "5 days".
-- plpgsql: a pinned function in SQL takes ten times as long, and health calls it for each schedule.
create or replace function lenses.fn_health_age(p_age interval)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant bigint := floor(abs(extract(epoch from p_age)));
begin
  return case
    when v_seconds < 1 then 'under 1 s'
    when v_seconds < 120 then v_seconds || ' s'
    when v_seconds < 7200 then v_seconds / 60 || ' min'
    when v_seconds < 172800 then v_seconds / 3600 || ' h'
    else v_seconds / 86400 || ' days'
  end;
end;
$$;
