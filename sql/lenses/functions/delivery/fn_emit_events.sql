-- owner: lf_sql_engine
-- Puts events of one type into the outbox, for each delivery that asks for them, within the
-- caller's transaction. p_events is [{"lenser_id","workflow_id","schedule_id","run_id","data"}], in
-- order; a NULL workflow_id is filled from the schedule. The caller holds the schedule's row, so
-- the order of the ids is the order of the commits.
create or replace function lenses.fn_emit_events(
  p_event_type text,
  p_events jsonb,
  p_at timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
begin
  -- Materialized, so that an event has the same id for every delivery.
  with told as materialized (
    select
      gen_random_uuid() as event_id, e.lenser_id, e.schedule_id, e.run_id, e.data, w.title,
      s.name as schedule_name, coalesce(e.workflow_id, s.workflow_id) as workflow_id, e.place
    from rows from (jsonb_to_recordset(p_events) as (
      lenser_id uuid, workflow_id uuid, schedule_id uuid, run_id uuid, data jsonb
    )) with ordinality as e (lenser_id, workflow_id, schedule_id, run_id, data, place)
    left join lenses.workflow_schedules as s on s.id = e.schedule_id
    left join lenses.workflows as w on w.id = coalesce(e.workflow_id, s.workflow_id)
  )

  insert into lenses.outbox (
    event_id, delivery, lenser_id, event_type, order_key, payload, created_at
  )
  select
    q.event_id, d.name, q.lenser_id, p_event_type, coalesce(q.schedule_id, q.run_id, q.event_id),
    jsonb_build_object(
      'id', q.event_id, 'type', p_event_type, 'timestamp', p_at,
      'text', concat_ws(' ',
        p_event_type || ':', coalesce(q.schedule_name, q.title, q.schedule_id::text),
        case when q.schedule_name <> q.title then '(' || q.title || ')' end,
        'slot ' || (q.data ->> 'scheduled_for'), q.data ->> 'cause', left(q.data ->> 'error', 300)),
      'data', jsonb_strip_nulls(jsonb_build_object(
        'lenser_id', q.lenser_id, 'workflow_id', q.workflow_id, 'workflow_title', q.title,
        'schedule_id', q.schedule_id, 'schedule_name', q.schedule_name, 'run_id', q.run_id)
        || q.data)),
    p_at
  from told as q
  inner join lenses.deliveries as d
    on d.is_active and p_event_type = any (d.sends)
    and (d.workflow_id is null or d.workflow_id = q.workflow_id)
  order by q.place, d.name;
  if found then
    perform lenses.fn_notify_events();
  end if;
end;
$$;
