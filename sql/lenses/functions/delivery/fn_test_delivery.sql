-- owner: lf_sql_engine
-- For operators (service_role): sends a test event in the same way as any other, so that it tries
-- address, signature and endpoint together. A test that failed, or that no caller waits for any
-- more, is deleted from the outbox and does not become a dead letter.
create or replace function lenses.fn_test_delivery(
  p_name text,
  p_test_id bigint default null,
  p_gives_up boolean default false
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  c_event_id constant uuid := gen_random_uuid();
  v_delivery lenses.deliveries;
  v_id bigint := p_test_id;
  v_error text;
  v_problem text;
begin
  select d.* into v_delivery from lenses.deliveries as d where d.name = p_name;
  if not found then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'there is no delivery %s', coalesce('"' || left(p_name, 100) || '"', 'NULL')
      ),
      hint = 'lf-sql delivery list, or lenses.fn_get_deliveries(), lists them.';
  elsif not v_delivery.is_active then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format('delivery "%s" is not active', p_name),
      hint = 'Set is_active to true.';
  end if;

  if p_test_id is null then
    insert into lenses.outbox as o (
      event_id, delivery, lenser_id, event_type, order_key, payload, created_at
    )
    values (
      c_event_id, p_name, c_nobody, 'delivery.test', c_event_id,
      jsonb_build_object(
        'id', c_event_id, 'type', 'delivery.test', 'timestamp', now(),
        'text', format('delivery.test: %s works', p_name), 'data', '{}'::jsonb),
      now()
    )
    returning o.id into v_id;
    perform lenses.fn_notify_events();
  else
    delete from lenses.outbox as o
    where o.id = p_test_id and o.delivery = p_name and o.event_type = 'delivery.test'
      and (p_gives_up or o.last_error is not null)
    returning coalesce(o.last_error, 'no answer') into v_error;
    if v_error is not null then
      return jsonb_build_object('id', v_id, 'status', 'failed', 'error', v_error);
    end if;
    if not exists (
      select from lenses.outbox as o where o.id = p_test_id and o.delivery = p_name
    ) then
      perform from lenses.deliveries as d where d.name = p_name and d.tested_id = p_test_id;
      if not found then
        raise exception using
          errcode = '22023',
          column = 'test_id',
          message = format('nothing is known of test %s of delivery "%s"', p_test_id, p_name),
          hint = 'It was never sent, has been reported, was dropped, or a newer one was '
            'delivered: send another.';
      end if;
      return jsonb_build_object('id', v_id, 'status', 'delivered');
    end if;
  end if;
  -- While all is frozen nothing is posted; what a consumer claims goes on.
  select
    'dispatching is frozen' || coalesce(': ' || nullif(btrim(d.frozen_reason), ''), '')
    || '; nothing is posted until lf-sql unfreeze'
  into v_problem
  from lenses.dispatch_settings as d
  where d.is_frozen and v_delivery.url is not null;
  return jsonb_strip_nulls(jsonb_build_object(
    'id', v_id, 'status', 'waiting', 'problem', coalesce(v_problem, v_delivery.problem)));
end;
$$;

comment on function lenses.fn_test_delivery(text, bigint, boolean) is
  'Sends a test event, of type delivery.test, to a delivery, whatever the delivery sends '
  'otherwise: {"id", "status": "waiting", "problem"}, problem where nothing can be posted. '
  'Called again with that id as p_test_id it returns the result: "delivered" (answered with 2xx, '
  'or acknowledged), "failed" with "error", or still "waiting"; with p_gives_up a test that '
  'still waits is withdrawn and has failed. The tick sends it, or lenses.fn_deliver() at once. '
  '22023: no such delivery, it is not active, or the id is unknown: a failure is reported once, '
  'and of the tests that were delivered only the newest is kept.';
