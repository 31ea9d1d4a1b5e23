-- owner: lf_sql_engine
-- The one log row of slots that were dropped together: why, how many, the first, the last.
create or replace function lenses.fn_log_missed(
  p_lenser_id uuid,
  p_schedule_id uuid,
  p_count bigint,
  p_first timestamptz,
  p_last timestamptz,
  p_now timestamptz,
  p_reason text default 'missed'
)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
values (p_lenser_id, p_schedule_id, 'schedule_skipped', jsonb_build_object(
  'reason', p_reason, 'scheduled_for', p_last,
  'detail', jsonb_build_object('count', p_count, 'first', p_first, 'last', p_last)), p_now)
$$;
