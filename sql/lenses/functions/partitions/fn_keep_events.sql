-- owner: lf_sql_engine
-- Moves the events of runs that stay out of a partition that has just been detached: back into
-- their table, where the default partition takes them.
create or replace function lenses.fn_keep_events(p_part regclass, p_run_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'insert into lenses.workflow_run_events '
    '(id, lenser_id, run_id, seq, event_type, payload, occurred_at) overriding system value '
    'select e.id, e.lenser_id, e.run_id, e.seq, e.event_type, e.payload, e.occurred_at '
    'from %s as e where e.run_id = any ($1)', p_part)
  using p_run_ids;
end;
$$;
