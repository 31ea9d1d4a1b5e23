-- owner: lf_sql_engine
-- A workflow's runs of the 24 hours before p_now, by created_at: succeeded, failed, total. The
-- figures are exact: sums of whole hours, and at both ends of minutes, of 5 seconds, of instants
-- and of changes that are not folded yet. So the cost does not depend on the number of runs. Where
-- p_now is older than the counts are certain to reach, the runs themselves are counted, with the
-- same result.
create or replace function lenses.fn_run_stats(
  p_lenser_id uuid,
  p_workflow_id uuid,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from constant timestamptz := p_now - interval '24 hours';
  v_from_5s constant timestamptz := date_bin('5 seconds', v_from, '2000-01-01Z')
    + interval '5 seconds';
  v_from_min constant timestamptz := date_bin(
    '1 minute', v_from_5s + interval '1 minute' - interval '1 microsecond', '2000-01-01Z');
  v_from_hour constant timestamptz := date_bin(
    '1 hour', v_from_min + interval '1 hour' - interval '1 microsecond', '2000-01-01Z');
  v_to_5s constant timestamptz := date_bin('5 seconds', p_now, '2000-01-01Z');
  v_to_min constant timestamptz := date_bin('1 minute', p_now, '2000-01-01Z');
  v_to_hour constant timestamptz := date_bin('1 hour', p_now, '2000-01-01Z');
begin
  if p_now < now() - interval '20 hours' then
    return (
      select jsonb_build_object(
        'succeeded', count(*) filter (where r.status = 'completed'),
        'failed', count(*) filter (where r.status in ('failed', 'timed_out')),
        'total', count(*))
      from lenses.workflow_runs as r
      where r.workflow_id = p_workflow_id and r.lenser_id = p_lenser_id
        and r.created_at > v_from and r.created_at <= p_now);
  end if;
  return (
    select jsonb_build_object(
      'succeeded', coalesce(sum(k.succeeded), 0), 'failed', coalesce(sum(k.failed), 0),
      'total', coalesce(sum(k.total), 0))
    from (
      values
        (0::smallint, v_from + interval '1 microsecond', p_now + interval '1 microsecond'),
        (1::smallint, v_from + interval '1 microsecond', v_from_5s),
        (2::smallint, v_from_5s, v_from_min),
        (3::smallint, v_from_min, v_from_hour),
        (4::smallint, v_from_hour, v_to_hour),
        (3::smallint, v_to_hour, v_to_min),
        (2::smallint, v_to_min, v_to_5s),
        (1::smallint, v_to_5s, p_now + interval '1 microsecond')
    ) as v (grain, since, until)
    cross join lateral (
      select c.succeeded, c.failed, c.total
      from lenses.run_counts as c
      where c.workflow_id = p_workflow_id and c.grain = v.grain
        and c.instant >= v.since and c.instant < v.until
      offset 0
    ) as k);
end;
$$;
