-- `when others` hands the server's own troubles on before it does anything else.
-- breaks: create function lenses.planted() returns void language plpgsql as 'begin perform 1; exception when others then null; end'
select f.identity
from our_functions as f
where (select count(*) from regexp_matches(f.body, '\mwhen\s+others\M', 'g'))
  > (
    select count(*)
    from regexp_matches(
      f.body,
      '\mwhen\s+others(?:\s+or\s+assert_failure)?\s+then\s+if\s+lenses\.fn_is_server_error\(sqlstate\)\s+then\s+raise\s*;\s+end\s+if', 'g'
    )
  )
