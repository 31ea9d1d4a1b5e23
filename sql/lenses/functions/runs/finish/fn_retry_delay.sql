-- How long the next attempt waits: backoffMs, doubled for each attempt so far, plus or minus up to
-- a quarter, so that runs that failed together do not come back together. A day at most, or
-- backoffMs where that is more.
create or replace function lenses.fn_retry_delay(p_retry_policy jsonb, p_attempt integer)
returns interval
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
select least(b.ms * 2 ^ least(greatest(p_attempt - 1, 0), 40), greatest(b.ms, 86400000))
  * (0.75 + random() / 2) * interval '1 millisecond'
from (
  select coalesce((p_retry_policy ->> 'backoffMs')::double precision, 0) as ms
) as b
$$;
