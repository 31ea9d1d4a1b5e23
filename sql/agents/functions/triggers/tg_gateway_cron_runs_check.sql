-- owner: lf_sql_engine
-- Keeps a gateway cron run to its states: pending -> running -> completed, failed or timed_out, or
-- cancelled before that. A run ends once; its cron, slot and payload never change. A row inserted
-- by hand takes missing values from its cron.
create or replace function agents.tg_gateway_cron_runs_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  if tg_op = 'INSERT' then
    if new.lenser_id is null or new.gateway_id is null or new.operation is null then
      select coalesce(new.lenser_id, c.lenser_id), coalesce(new.gateway_id, c.gateway_id),
        coalesce(new.operation, c.operation)
      into new.lenser_id, new.gateway_id, new.operation
      from agents.gateway_crons c
      where c.id = new.gateway_cron_id;
    end if;
    return new;
  end if;

  if (
    new.id, new.lenser_id, new.gateway_id, new.operation, new.scheduled_for, new.payload,
    new.created_at, coalesce(new.gateway_cron_id, old.gateway_cron_id)
  ) is distinct from (
    old.id, old.lenser_id, old.gateway_id, old.operation, old.scheduled_for, old.payload,
    old.created_at, old.gateway_cron_id
  ) then
    raise exception using
      errcode = '22023',
      message = format('gateway cron run "%s" keeps what it was made with', old.id),
      hint = 'Only status, worker, lease, result and error change; for another payload run the '
        'cron again.';
  end if;
  if new.status is distinct from old.status then
    if not (
      (old.status = 'pending' and new.status in ('running', 'cancelled', 'timed_out'))
      or (
        old.status = 'running'
        and new.status in ('completed', 'failed', 'cancelled', 'timed_out')
      )
    ) then
      raise exception using
        errcode = '22023',
        column = 'status',
        message = format(
          'gateway cron run "%s" cannot go from "%s" to "%s"', old.id, old.status,
          left(new.status, 60)
        ),
        hint = 'pending leads to running, running to completed, failed or timed_out; both may be '
          'cancelled.';
    end if;
    if new.status <> 'running' then
      new.completed_at := coalesce(new.completed_at, now());
      new.lease_expires_at := null;
    end if;
  end if;
  return new;
end;
$$;

comment on function agents.tg_gateway_cron_runs_check() is
  'Holds the state machine of gateway cron runs (22023 for an illegal transition or a changed '
  'past) and fills a new row from its cron.';
