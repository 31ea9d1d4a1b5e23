-- A number or a three-letter name of a cron field as an integer; NULL for a name that the field
-- does not have. p_field counts from 1; 0 reads a step. Numbers of any length: 9999 is the most.
-- Names are compared in collation C: a Turkish database would turn fri into something else.
create or replace function lenses.fn_cron_value(p_field integer, p_text text)
returns integer
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_text ~ '^[0-9]' then
      case
        when length(p_text) < 5 then p_text::integer
        when length(ltrim(p_text, '0')) < 5 then right(p_text, 4)::integer
        else 9999
      end
    when p_field = 4 then
      array_position(
        '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}'::text[], upper(p_text collate "C")
      )
    when p_field = 5 then
      array_position('{SUN,MON,TUE,WED,THU,FRI,SAT}'::text[], upper(p_text collate "C")) - 1
  end
$$;
