-- What stands for a key that other schedulers have, as a hint for who writes it; NULL for any other
-- key.
create or replace function lenses.fn_former_key_hint(p_key text, p_value jsonb)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case p_key
    when 'overlap_policy' then 'Use queue_policy: '
      || case p_value #>> '{}'
        when 'allow' then '{"mode": "parallel"}.'
        when 'skip' then '{"mode": "serial", "onOverlap": "skip"}.'
        when 'queue' then '{"mode": "serial", "onOverlap": "queue"}.'
        else '"mode" is parallel or serial, "onOverlap" is skip, queue or replace.'
      end
    when 'catchup_policy' then 'Use queue_policy: '
      || case p_value #>> '{}'
        when 'none' then '{"onMissed": "skip"}.'
        when 'fire_immediately' then '{"onMissed": "backfill"}, or run_once for the newest alone.'
        when 'spread' then '{"onMissed": "spread", "spreadWindowMs": 60000}.'
        else '"onMissed" is skip, run_once, backfill or spread, with "maxBackfill" and '
          '"spreadWindowMs".'
      end
  end
$$;
