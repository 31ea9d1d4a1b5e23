-- owner: lf_sql_engine
-- For service_role: makes the named delivery, or changes the named keys of it, all or none. Only
-- operators choose where requests go: nothing that a tenant writes becomes an address or a header.
create or replace function lenses.fn_set_delivery(p_patch jsonb)
returns lenses.deliveries
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_rules constant jsonb := '{
    "name": {"type": "text"},
    "url": {"type": "text"},
    "sends": {"type": "words", "max": 7, "length": 40, "values": [
      "runs", "run.failed", "run.timed_out", "schedule.missed", "schedule.halted",
      "approval.waiting", "schedule.dispatch_failed"]},
    "workflow_id": {"type": "uuid"},
    "headers": {"type": "object"},
    "secret_name": {"type": "text"},
    "is_active": {"type": "boolean"},
    "max_in_flight": {"type": "integer", "min": 1, "max": 1000},
    "timeout_ms": {"type": "integer", "min": 100, "max": 3600000},
    "lease_ms": {"type": "integer", "min": 1000, "max": 86400000},
    "max_attempts": {"type": "integer", "min": 1, "max": 100},
    "max_events": {"type": "integer", "min": 1, "max": 1000000}
  }';
  c_nullable constant text[] := array['url', 'workflow_id', 'secret_name'];
  c_defaults constant jsonb := jsonb_build_object(
    'sends', array['runs'], 'headers', '{}'::jsonb, 'is_active', true, 'max_in_flight', 50,
    'timeout_ms', 30000, 'lease_ms', 300000, 'max_attempts', 10, 'max_events', 10000,
    'delivered', 0, 'failed', 0, 'dropped', 0, 'failures', 0, 'created_at', now());
  v_name text;
  v_row lenses.deliveries;
begin
  if p_patch is null then
    raise exception using
      errcode = '22023',
      column = 'patch',
      message = 'delivery must be a JSON object, not NULL',
      hint = 'For example {"url": "https://example.com/hook"}.';
  end if;
  perform lenses.fn_check_policy(
    'delivery',
    case when jsonb_typeof(p_patch) = 'object' then p_patch - 'headers'::text - array(
      select n.name from unnest(c_nullable) as n (name) where p_patch -> n.name = 'null')
    else p_patch end,
    c_rules);
  v_name := coalesce(p_patch ->> 'name', 'default');
  if v_name !~ '[^[:space:]]' or v_name ~ '[[:cntrl:]]' or char_length(v_name) > 100 then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'delivery.name must be 1 to 100 characters on one line, not "%s"',
        left(regexp_replace(v_name, '[[:cntrl:]]', '?', 'g'), 60)
      ),
      hint = 'Leave it out for "default".';
  end if;
  if p_patch ? 'headers' then
    perform lenses.fn_check_delivery_headers(p_patch -> 'headers');
  end if;
  perform lenses.fn_check_text(p_patch ->> 'secret_name', 'delivery.secret_name', 200);
  if p_patch ->> 'secret_name' !~ '[^[:space:]]' then
    raise exception using
      errcode = '22023',
      column = 'secret_name',
      message = 'delivery.secret_name is empty',
      hint = 'Name the secret that signs, or give null: nothing is signed.';
  end if;

  -- Of two calls that make the same delivery the second waits, and then changes it.
  perform pg_advisory_xact_lock(1818653553, 31);
  select d.* into v_row from lenses.deliveries as d where d.name = v_name for no key update;
  v_row := jsonb_populate_record(
    case when found then v_row else jsonb_populate_record(v_row, c_defaults) end,
    p_patch || jsonb_build_object('name', v_name, 'updated_at', now()));
  perform lenses.fn_check_delivery(v_row);

  insert into lenses.deliveries as d values (v_row.*)
  on conflict (name) do update
  set url = excluded.url, sends = excluded.sends, workflow_id = excluded.workflow_id,
    headers = excluded.headers, secret_name = excluded.secret_name,
    is_active = excluded.is_active, max_in_flight = excluded.max_in_flight,
    timeout_ms = excluded.timeout_ms, lease_ms = excluded.lease_ms,
    max_attempts = excluded.max_attempts, max_events = excluded.max_events,
    updated_at = excluded.updated_at;
  return v_row;
end;
$$;

comment on function lenses.fn_set_delivery(jsonb) is
  'Makes or changes one delivery, where runs are posted or events go, and returns its row. Keys, '
  'all with defaults: name ("default"), url (https or http; null: a consumer claims the events), '
  'sends (["runs"], or events: run.failed, run.timed_out, schedule.missed, schedule.halted, '
  'approval.waiting, schedule.dispatch_failed), workflow_id (null: all), headers ({}), '
  'secret_name (null: not signed), is_active, max_in_flight (50), timeout_ms (30000), lease_ms '
  '(300000, more than timeout_ms), max_attempts of an event (10), max_events (10000). A key left '
  'out keeps its value. 22023: unknown key (the nearest is named), wrong type, out of range, no '
  'address of http or https; 23503: no such workflow.';
