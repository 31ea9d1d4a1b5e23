-- A hint for a value that a cron field does not have.
create or replace function lenses.fn_cron_hint_range(p_field integer, p_item text)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_item ~ '#' and split_part(p_item, '#', 2) !~ '^0*[1-5]$' then
      'The k of d#k runs from 1 to 5; the last such weekday of a month is dL, such as FRIL.'
    when p_item ~* '^l-' then 'The n of L-n runs from 1 to 30; the last day itself is L.'
    else case p_field
      when 1 then 'Minutes run from 0 to 59; the full hour is minute 0.'
      when 2 then 'Hours run from 0 to 23; midnight is hour 0 of the next day.'
      when 3 then 'Days of the month run from 1 to 31.'
      when 4 then 'Months run from 1, January, to 12, December.'
      when 5 then 'Days of the week run from 0, Sunday, to 6, Saturday; 7 is Sunday too.'
    end
  end
$$;
