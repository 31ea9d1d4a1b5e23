-- Raises 22023 where a run that is written by hand gets a value that no run can have. Values that
-- did not change are not checked. p_old is NULL for an INSERT. This is not a CHECK constraint,
-- because every claim and completion would pay for that.
create or replace function lenses.fn_check_run_values(
  p_new lenses.workflow_runs,
  p_old lenses.workflow_runs
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_value timestamptz;
begin
  if jsonb_typeof(p_new.metadata) <> 'object'
    and p_new.metadata is distinct from p_old.metadata then
    raise exception using
      errcode = '22023',
      column = 'metadata',
      message = format('metadata must be an object, not %s', left(p_new.metadata::text, 60)),
      hint = 'metadata.result is the run''s result; {} is none.';
  end if;
  select v.name, v.value into v_column, v_value
  from (
    values
      ('scheduled_for', p_new.scheduled_for, p_old.scheduled_for),
      ('available_at', p_new.available_at, p_old.available_at),
      ('approval_expires_at', p_new.approval_expires_at, p_old.approval_expires_at),
      ('lease_expires_at', p_new.lease_expires_at, p_old.lease_expires_at),
      ('started_at', p_new.started_at, p_old.started_at),
      ('completed_at', p_new.completed_at, p_old.completed_at),
      ('created_at', p_new.created_at, p_old.created_at)
  ) as v (name, value, old_value)
  where v.value not between timestamptz '1970-01-01 00:00:00+00'
    and timestamptz '9999-12-31 23:59:59.999999+00'
    and v.value is distinct from v.old_value
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = v_column,
      message = format(
        '%s must be an instant of the years 1970 to 9999, not "%s"', v_column, v_value
      ),
      hint = case v_column
        when 'lease_expires_at' then 'Take a short lease and extend it by heartbeats.'
        when 'created_at' then 'Leave it out and it is now.'
        else 'Give a time, or NULL for none.'
      end;
  end if;
end;
$$;
