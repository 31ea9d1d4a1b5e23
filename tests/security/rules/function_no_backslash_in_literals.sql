-- No body reads a backslash as the session's standard_conforming_strings says: E'...' or [.] mean the same in every session.
-- breaks: create function lenses.planted(p text) returns boolean language plpgsql as 'begin /* it''s */ return p ~ E''\\s'' or p ~ ''\s''; end'
select f.identity
from our_functions as f
where f.prosqlbody is null
  and not coalesce('standard_conforming_strings=on' = any(f.proconfig), false)
  and exists (
    select
    -- comments, E'...' and quoted names are stepped over
    from regexp_matches(
      f.prosrc, $$--[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|\mE'(?:[^'\\]|\\.|'')*'|"[^"]*"|'(?:[^']|'')*'$$, 'gi'
    ) as m
    where m[1] like '''%' and strpos(m[1], '\') > 0
  )
