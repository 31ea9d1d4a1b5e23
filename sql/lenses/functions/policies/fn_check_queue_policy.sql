-- Called by the triggers of every table that stores a queue policy. Raises 22023, see comment.
create or replace function lenses.fn_check_queue_policy(p_policy jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_policy('queue_policy', p_policy, '{
    "mode": {"type": "word", "values": ["parallel", "serial"]},
    "maxConcurrency": {"type": "integer", "min": 1, "max": 10000},
    "priority": {"type": "integer", "min": 0, "max": 2147483647},
    "onMissed": {"type": "word", "values": ["skip", "run_once", "backfill", "spread"]},
    "maxBackfill": {"type": "integer", "min": 0, "max": 10000000},
    "spreadWindowMs": {"type": "integer", "min": 0, "max": 31622400000},
    "onOverlap": {"type": "word", "values": ["skip", "queue", "replace"]}
  }');
  if p_policy @> '{"mode": "serial", "onOverlap": "skip"}'
    and p_policy ->> 'onMissed' in ('backfill', 'spread')
  then
    raise exception using
      errcode = '22023',
      column = 'queue_policy.onOverlap',
      message = format(
        'queue_policy: onOverlap "skip" contradicts onMissed "%s" in mode "serial"; '
        'the nearest is "queue"', p_policy ->> 'onMissed'
      ),
      detail = 'The first missed slot would be in flight, and every other one would be skipped.',
      hint = 'Leave onOverlap out (it is "queue" here), give "replace", or use mode "parallel".';
  end if;
end;
$$;

comment on function lenses.fn_check_queue_policy(jsonb) is
  'Raises 22023 unless p_policy is an object of mode (parallel, serial), maxConcurrency (1 to '
  '10000), priority (0 to 2147483647), onMissed (skip, run_once, backfill, spread), maxBackfill '
  '(0 to 10000000), spreadWindowMs (0 to 366 days, in ms) and onOverlap (skip, queue, replace); '
  'onOverlap skip is refused where mode serial meets onMissed backfill or spread.';
