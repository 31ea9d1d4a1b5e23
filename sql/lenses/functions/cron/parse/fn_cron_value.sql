-- A number or a three-letter name of a cron field as an integer; NULL for a name that the field
-- does not have. p_field counts from 1; 0 reads a step. A number of any length is read, as 9999 at
-- most. Names are compared in collation C: a Turkish database would turn fri into something else.
create or replace function lenses.fn_cron_value(p_field integer, p_text text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text ~ '^[0-9]' then
    if length(ltrim(p_text, '0')) < 5 then
      return right(p_text, 4)::integer;
    end if;
    return 9999;
  elsif p_field = 4 then
    return array_position(
      '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}'::text[], upper(p_text collate "C")
    );
  elsif p_field = 5 then
    return array_position(
      '{SUN,MON,TUE,WED,THU,FRI,SAT}'::text[], upper(p_text collate "C")
    ) - 1;
  end if;
  return null;
end;
$$;
