-- owner: lf_sql_engine
-- Moves the events of runs that stay out of a partition that has just been detached: back into
-- their table, where the default partition takes them. Raises where less than an event a run was
-- moved: the partition's row security has been changed and hides them.
create or replace function lenses.fn_keep_events(p_part regclass, p_run_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  execute format(
    'insert into lenses.workflow_run_events '
    '(id, lenser_id, run_id, seq, event_type, payload, occurred_at) overriding system value '
    'select e.id, e.lenser_id, e.run_id, e.seq, e.event_type, e.payload, e.occurred_at '
    'from %s as e where e.run_id = any ($1)', p_part)
  using p_run_ids;
  get diagnostics v_count = row_count;
  if v_count < cardinality(p_run_ids) then
    raise exception using
      errcode = '55000',
      message = format('events of runs that stay are hidden in %s', p_part),
      hint = 'Its row security is not as lf-sql makes it: lf-sql install puts it back.';
  end if;
end;
$$;
