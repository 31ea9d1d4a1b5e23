-- An interval in the one or two words that a line of health has room for: "3 min", "2 h", "5 days".
create or replace function lenses.fn_health_age(p_age interval)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when s.n < 1 then 'under 1 s'
  when s.n < 120 then s.n || ' s'
  when s.n < 7200 then s.n / 60 || ' min'
  when s.n < 172800 then s.n / 3600 || ' h'
  else s.n / 86400 || ' days'
end
from (select floor(abs(extract(epoch from p_age)))::bigint as n) as s
$$;
