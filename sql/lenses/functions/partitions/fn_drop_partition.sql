-- Drops the oldest partition of a table of events or logs that is past its retention as a whole;
-- says `dropped`, `busy` where a lock was not free in 100 ms, so that another try makes sense, or
-- `none`. The audit's minimum of 31 days counts by the server's clock, whatever p_now is. Events of
-- runs that stay (in flight, or not purged yet) move to the default partition in the same
-- transaction. Where more than 10,000 runs stay the partition stays, and a later night drops it:
-- all who write events wait while these move. Who these runs are is found before, under a lock on
-- that partition alone, which only a row dated back to that day would want. The lock on the table
-- comes before its partitions are read: of two purges one is busy, and no two wait for each other.
create or replace function lenses.fn_drop_partition(p_now timestamptz)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set lock_timeout = '100ms'
as $$
declare
  c_most constant integer := 10000;
  v_settings lenses.dispatch_settings;
  v_parent regclass;
  v_part record;
  v_before timestamptz;
  v_kept uuid[];
begin
  select d.* into v_settings from lenses.dispatch_settings as d;
  foreach v_parent in array array[
    'lenses.workflow_run_events', 'agents.agent_run_events', 'agents.action_logs']::regclass[]
  loop
    v_before := least(now() - interval '31 days', p_now - coalesce(
      case v_parent when 'agents.action_logs'::regclass then v_settings.logs_retention
        else v_settings.events_retention end,
      v_settings.retention));
    execute format('lock table only %s in share update exclusive mode', v_parent);
    for v_part in
      select p.part, p.from_at, p.until_at
      from lenses.fn_partitions() as p
      where p.parent = v_parent and p.until_at <= v_before
    loop
      v_kept := '{}';
      if v_parent = 'lenses.workflow_run_events'::regclass then
        execute format('lock table %s in share mode', v_part.part);
        v_kept := lenses.fn_kept_runs(
          v_part.from_at, v_part.until_at,
          case when v_before > p_now - v_settings.retention then v_before else '-infinity' end,
          c_most + 1);
        continue when cardinality(v_kept) > c_most;
      end if;
      execute format('alter table %s detach partition %s', v_parent, v_part.part);
      if v_kept <> '{}' then
        execute format('grant select on %s to %I', v_part.part, 'lf_sql_engine');
        perform lenses.fn_keep_events(v_part.part, v_kept);
      end if;
      execute format('drop table %s', v_part.part);
      return 'dropped';
    end loop;
  end loop;
  return 'none';
exception when lock_not_available then
  return 'busy';
end;
$$;
