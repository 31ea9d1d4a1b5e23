-- The tables that go along with a tenant, in the order of their foreign keys: the columns of the
-- key that a row is known by, how it arrives (replace: what is there of the tenant goes first;
-- merge: an upsert, and what does not come goes; add: where there is none of that key; grow: so, or
-- with a higher count; log: as often as it comes; own: fn_arrive_tenant says), which rows wait or
-- are active and therefore are put aside at the departure, and which rows are the tenant's where it
-- is not lenser_id that says so (t is the table, $1 the tenant). What is not listed follows from
-- what is.
create or replace function lenses.fn_tenant_tables()
returns table (
  place integer,
  table_name text,
  key_columns text[],
  arrival text,
  live_rows text,
  own_rows text
)
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select v.place, v.table_name, v.key_columns, v.arrival, v.live_rows,
  coalesce(v.own_rows, 't.lenser_id = $1')
from (values
  (1, 'lensers.profiles', array['id'], 'own', null, 't.id = $1'),
  (2, 'agents.ai_lensers', array['id'], 'replace', null, null),
  (3, 'agents.policies', array['ai_lenser_id'], 'replace', null, null),
  (4, 'agents.teams', array['id'], 'replace', null, null),
  (5, 'agents.team_members', array['team_id', 'ai_lenser_id'], 'replace', null, null),
  (6, 'lenses.schedule_calendars', array['id'], 'replace', null, null),
  (7, 'lenses.workflows', array['id'], 'merge', null, null),
  (8, 'lenses.workflow_versions', array['workflow_id', 'version'], 'add', null, null),
  (9, 'agents.workflow_assignments', array['id'], 'replace', null, null),
  (10, 'lenses.workflow_schedules', array['id'], 'replace', null, null),
  (
    11, 'lenses.workflow_runs', array['id'], 'replace',
    't.status in (''pending_approval'', ''pending'')', null
  ),
  (12, 'agents.team_runs', array['id'], 'replace', 't.approval_status = ''pending''', null),
  (13, 'lenses.workflow_run_events', array['run_id', 'seq'], 'add', null, null),
  (14, 'agents.agent_run_events', null, 'log', null, null),
  (15, 'agents.action_logs', null, 'log', null, null),
  (16, 'agents.approval_attempts', array['run_id', 'minute'], 'grow', null, null),
  (17, 'lenses.run_retries', array['run_id', 'attempt', 'retried_at'], 'add', null, null),
  (18, 'agents.gateways', array['id'], 'replace', null, null),
  (19, 'agents.gateway_crons', array['id'], 'replace', 't.is_active', null),
  (20, 'agents.gateway_cron_runs', array['id'], 'replace', 't.status = ''pending''', null),
  (
    21, 'lenses.deliveries', array['name'], 'own', null,
    't.workflow_id in (select w.id from lenses.workflows as w where w.lenser_id = $1)'
    || ' or t.name in (select d.row_texts ->> ''delivery'' from lenses.departed_rows as d'
    || ' where d.lenser_id = $1 and d.table_name = ''lenses.outbox'')'
  ),
  (
    22, 'lenses.delivery_secrets', array['name'], 'own', null,
    't.name in (select d.secret_name from lenses.deliveries as d'
    || ' where d.workflow_id in (select w.id from lenses.workflows as w where w.lenser_id = $1)'
    || ' or d.name in (select o.row_texts ->> ''delivery'' from lenses.departed_rows as o'
    || ' where o.lenser_id = $1 and o.table_name = ''lenses.outbox''))'
  ),
  (23, 'lenses.outbox', array['event_id', 'delivery'], 'add', 'true', null)
) as v (place, table_name, key_columns, arrival, live_rows, own_rows)
order by v.place
$$;
