-- owner: lf_sql_engine
-- For consumers (service_role), and for the tick's own posts.
create or replace function lenses.fn_claim_events(
  p_delivery text,
  p_worker_id text,
  p_limit integer default 10,
  p_lease interval default '5 minutes'
)
returns table (
  id bigint, event_id uuid, event_type text, attempt integer, payload jsonb,
  lease_expires_at timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_claimant(p_worker_id, p_lease);
  if p_limit < 0 then
    raise exception using
      errcode = '22023',
      column = 'limit',
      message = format('p_limit must not be negative, but is %s', p_limit),
      hint = 'Claim as many events as you can work on at once.';
  elsif not exists (select from lenses.deliveries as d where d.name = p_delivery) then
    raise exception using
      errcode = '22023',
      column = 'delivery',
      message = format(
        'there is no delivery %s', coalesce('"' || left(p_delivery, 100) || '"', 'NULL')
      ),
      hint = 'Make it by lenses.fn_set_delivery(''{"name": …, "sends": ["run.failed"]}'').';
  end if;
  if not lenses.fn_admit_work() then
    return;
  end if;
  return query
  select c.* from lenses.fn_take_events(
    p_delivery, p_worker_id, least(coalesce(p_limit, 10), 100),
    now(), now() + coalesce(p_lease, interval '5 minutes')) as c;
end;
$$;

comment on function lenses.fn_claim_events(text, text, integer, interval) is
  'Claims for p_worker_id up to p_limit (100 at most) events of the delivery p_delivery for '
  'p_lease (a day at most), the oldest first; of one schedule one at a time, so that they come '
  'in order. Acknowledge each by lenses.fn_ack_events, or give it back by lenses.fn_fail_event. '
  'Any other event can be claimed again when its lease ends, so an event may come more than '
  'once, with the same event_id. payload is {"id","type","timestamp","text","data"}. Commit '
  'before you work on them; LISTEN lf_events instead of polling often, and poll now and then all '
  'the same. Returns nothing while the delivery is not active. 22023: no such delivery, or a bad '
  'worker id, limit or lease.';
