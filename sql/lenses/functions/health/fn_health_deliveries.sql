-- owner: lf_sql_engine
-- One line for each delivery that is active or holds dead letters, and one about who else may use
-- pg_net. No line where nothing is delivered.
create or replace function lenses.fn_health_deliveries()
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
with deliveries as materialized (
  select
    d.*, q.waiting, q.oldest, q.dead, t.problem as trouble, t.advice,
    d.is_active and d.url is not null and d.secret_name is not null
    and lenses.fn_delivery_secret(d.secret_name) is null as is_unsigned,
    clock_timestamp() as now
  from lenses.deliveries as d
  left join lenses.fn_net_trouble() as t on d.is_active and d.url is not null
  cross join lateral (
    select
      count(*) filter (where o.dead_at is null) as waiting,
      min(o.created_at) filter (where o.dead_at is null) as oldest,
      count(*) filter (where o.dead_at is not null) as dead
    from lenses.outbox as o
    where o.delivery = d.name
  ) as q
  where d.is_active or q.dead > 0
)

select
  'delivery ' || d.name,
  case when f.label is not null then 'bad' when w.label is not null then 'warn' else 'ok' end,
  coalesce(f.label, w.label, 'ok'),
  coalesce(f.detail, w.detail,
    format('%s delivered, %s failed, %s events wait', d.delivered, d.failed, d.waiting)),
  coalesce(f.advice, w.advice),
  null::uuid
from deliveries as d
left join lateral (
  select x.*
  from (
    values
    (d.trouble is not null, 'CANNOT POST', d.trouble, d.advice),
    (
      d.is_unsigned, 'NO SECRET',
      format('the secret "%s" is not there, or is not "whsec_" and base64: nothing is posted',
        d.secret_name),
      format('select lenses.fn_set_delivery_secret(%L, ''whsec_…'');', d.secret_name)
    ),
    (
      d.is_active and d.url is not null and d.problem is not null, 'CANNOT POST', d.problem,
      'fix that; the next tick posts again, or at once: select lenses.fn_deliver();'
    ),
    (
      d.is_active and d.failures >= 5, 'FAILING',
      format('the last %s requests failed, so one is tried at a time: %s', d.failures,
        d.last_error),
      'look at the endpoint; what waits goes on by itself'
    ),
    (
      d.dead > 0, format('%s dead letters', d.dead),
      format('%s events used up their attempts or their place, the last by: %s', d.dead, (
        select o.last_error from lenses.outbox as o
        where o.delivery = d.name and o.dead_at is not null
        order by o.id desc limit 1)),
      format('fix what fails, then: select lenses.fn_retry_dead_events(%L);', d.name)
    )
  ) as x (is_so, label, detail, advice)
  where x.is_so
  limit 1
) as f on true
left join lateral (
  select 'waiting', format(
    '%s events wait, the oldest for %s', d.waiting, lenses.fn_health_since(d.oldest, d.now)),
    case when d.url is null
      then format('start what claims them: lenses.fn_claim_events(%L, …)', d.name)
      else 'look at the worker line, and at max_in_flight' end
  where d.is_active and d.oldest < d.now - interval '1 hour'
) as w (label, detail, advice) on true

union all

select
  'pg_net', 'warn', 'OPEN',
  'every role of this database may read the headers of requests in net.http_request_queue and '
  'write answers',
  format(
    'as its owner: grant usage on schema net to %1$I; grant select, insert on all tables in schema '
    'net to %1$I; grant usage on all sequences in schema net to %1$I; revoke all on all tables in '
    'schema net from public; revoke all on all sequences in schema net from public -- where net is '
    'the platform''s, keep it out of the '
    'schemas that clients reach', current_user),
  null
where exists (select from deliveries as d where d.is_active and d.url is not null) and exists (
  select
  from pg_class as c
  inner join pg_namespace as n on n.oid = c.relnamespace
  cross join lateral aclexplode(c.relacl) as a
  where n.nspname = 'net' and c.relname in ('http_request_queue', '_http_response')
    and a.grantee = 0)
order by 1
$$;

comment on function lenses.fn_health_deliveries() is
  'Lines about deliveries and pg_net: what cannot be posted, endpoints that fail, dead letters. '
  'Columns as of lenses.fn_health.';
