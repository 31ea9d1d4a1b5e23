-- owner: lf_sql_engine
-- Handles up to p_limit answers to a delivery's requests; returns how many. The caller holds the
-- delivery's row. An answer is ours if its number and the queue are those of the request, it is no
-- older than the request, and a webhook-id in it, if any, is the request's. An answer up to ten
-- minutes after the lease does not change the run, but its credits are booked. It waits for no
-- lock: where another transaction holds the run or its schedule, the answer is left for the next
-- call. It goes request by request, each in a block of its own; a run that cannot be settled is
-- left until its lease ends.
create or replace function lenses.fn_read_answers(
  p_delivery lenses.deliveries,
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer record;
  v_request lenses.delivery_requests;
  v_schedule_id uuid;
  v_error text;
  v_good integer := 0;
  v_bad integer := 0;
  v_failures integer := p_delivery.failures;
  v_last_error text := p_delivery.last_error;
begin
  delete from lenses.delivery_requests as q
  where q.delivery = p_delivery.name and (
    q.expires_at <= p_now - interval '10 minutes'
    or q.queue_oid is distinct from to_regclass('net._http_response'));

  for v_answer in
    select distinct on (q.request_id)
      q.request_id, a.status_code, a.headers, a.timed_out, a.error_msg,
      case when octet_length(a.content) <= 1048576 then a.content end as content
    from lenses.delivery_requests as q
    inner join net._http_response as a on a.id = q.request_id and a.created >= q.sent_at
    where q.delivery = p_delivery.name
      and not exists (
        select
        from jsonb_each_text(
          case jsonb_typeof(a.headers) when 'object' then a.headers else '{}' end) as h
        where lower(h.key) = 'webhook-id' and h.value <> q.key)
    order by q.request_id, a.created
    limit p_limit
  loop
    select q.* into v_request
    from lenses.delivery_requests as q where q.request_id = v_answer.request_id;
    v_schedule_id := (
      select r.schedule_id from lenses.workflow_runs as r where r.id = v_request.run_id);
    perform from lenses.workflow_schedules as s
    inner join lenses.schedule_due as d on d.schedule_id = s.id
    where s.id = v_schedule_id
    for no key update of s, d skip locked;
    continue when not found and v_schedule_id is not null;
    perform from lenses.workflow_runs as r
    where r.id = v_request.run_id
    for no key update skip locked;
    continue when not found and v_request.run_id is not null;
    begin
      if v_request.run_id is not null then
        v_error := lenses.fn_settle_run(
          v_request, v_answer.status_code, v_answer.headers, v_answer.content, v_answer.timed_out,
          v_answer.error_msg, p_now);
      elsif v_answer.status_code between 200 and 299 then
        v_error := null;
        with gone as (
          delete from lenses.outbox as o
          where o.id = v_request.outbox_id and o.attempt = v_request.attempt
            and o.worker_id = 'delivery:' || p_delivery.name and o.dead_at is null
          returning o.id, o.event_type
        )

        update lenses.deliveries as d set tested_id = g.id
        from gone as g
        where d.name = p_delivery.name and g.event_type = 'delivery.test';
      else
        v_error := coalesce(
          'the endpoint answered ' || v_answer.status_code, left(v_answer.error_msg, 1000),
          'the endpoint did not answer');
        perform lenses.fn_put_off_event(
          v_request.outbox_id, 'delivery:' || p_delivery.name, v_request.attempt, v_error,
          lenses.fn_retry_after(v_answer.headers, p_now), p_now);
      end if;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      v_error := format('the answer cannot be accepted: %s %s', sqlstate, sqlerrm);
    end;
    delete from lenses.delivery_requests as q where q.request_id = v_answer.request_id;
    if v_error is null then
      v_good := v_good + 1;
      v_failures := 0;
    else
      v_bad := v_bad + 1;
      v_failures := v_failures + 1;
      v_last_error := v_error;
    end if;
  end loop;
  if v_good + v_bad > 0 then
    update lenses.deliveries as d
    set delivered = d.delivered + v_good, failed = d.failed + v_bad, failures = v_failures,
      last_delivered_at = case when v_good > 0 then p_now else d.last_delivered_at end,
      last_error_at = case when v_bad > 0 then p_now else d.last_error_at end,
      last_error = left(v_last_error, 2000)
    where d.name = p_delivery.name;
  end if;
  return v_good + v_bad;
end;
$$;
