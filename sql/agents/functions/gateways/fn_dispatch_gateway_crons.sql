-- owner: lf_sql_engine
-- The gateways' part of a tick, by p_now: reaps expired leases, then turns due crons into one run
-- each, for the newest slot, whatever was missed; p_limit at most, each lenser's first ones first.
-- Rows that someone holds are left for the next tick, never waited for; so it may lock a cron
-- before its runs, where claims and completions lock the run first. Set-wise; where the set fails,
-- row by row, as are rows that failed before, so that a bad row costs only itself. One whose next
-- slot cannot be computed rests (next_run_at NULL) until it is saved again.
create or replace function agents.fn_dispatch_gateway_crons(
  p_now timestamptz,
  p_limit integer default 1000
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_suspect_ids uuid[];
  v_id uuid;
  v_runs integer := 0;
  v_is_rest boolean;
begin
  perform agents.fn_reap_gateway_cron_runs(p_now, p_limit);

  select array_agg(d.id) filter (where d.last_status is distinct from 'dispatch_failed'),
    coalesce(array_agg(d.id) filter (where d.last_status = 'dispatch_failed'), '{}')
  into v_ids, v_suspect_ids
  from (
    with due as materialized (
      select q.id, q.turn, q.next_run_at
      from (
        select o.id, o.next_run_at,
          row_number() over (partition by o.lenser_id order by o.next_run_at) as turn
        from (
          select c.id, c.lenser_id, c.next_run_at
          from agents.gateway_crons c
          where c.is_active and c.next_run_at <= p_now
          order by c.next_run_at
          limit p_limit * 50
        ) o
      ) q
      order by q.turn, q.next_run_at
      limit p_limit
    )

    select c.id, c.last_status
    from due d
    inner join agents.gateway_crons c on c.id = d.id
    inner join agents.gateways g on g.id = c.gateway_id and g.lenser_id = c.lenser_id
    where c.is_active and c.next_run_at <= p_now
    order by d.turn, d.next_run_at
    for no key update of c skip locked
    for key share of g skip locked
  ) d;

  if v_ids is not null then
    begin
      v_runs := agents.fn_dispatch_gateway_cron_batch(v_ids, p_now);
    exception when others then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      v_suspect_ids := v_ids || v_suspect_ids;
    end;
  end if;

  foreach v_id in array v_suspect_ids loop
    begin
      v_runs := v_runs + agents.fn_dispatch_gateway_cron_batch(array[v_id], p_now);
    exception when others then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'gateway cron "%" was not dispatched: %', v_id, sqlerrm;
      v_is_rest := sqlstate = '22023';
      update agents.gateway_crons c
      set last_status = case when v_is_rest then 'validation_failed' else 'dispatch_failed' end,
        next_run_at = case when v_is_rest then null else c.next_run_at end
      where c.id = v_id;
    end;
  end loop;
  return v_runs;
end;
$$;

comment on function agents.fn_dispatch_gateway_crons(timestamptz, integer) is
  'Turns due gateway crons into agents.gateway_cron_runs, one each for the newest slot at or '
  'before p_now, and reaps expired leases. Returns the runs inserted. Called by the tick; at most '
  'p_limit crons a call.';
