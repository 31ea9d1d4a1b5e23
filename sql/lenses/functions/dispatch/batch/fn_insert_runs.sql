-- owner: lf_sql_engine
-- Inserts the runs of judged slots (those with decision dispatch); returns how many. A slot that
-- already has a run is left alone and not counted. With p_looks false it does not look for such
-- slots, which is quicker where there are none; where there is one it inserts nothing and returns
-- NULL. 40001: it looked, and a slot has a run that the caller's snapshot is too old to show. The
-- table's trigger adds events and team runs. p_triggered_by NULL means the schedule's id. The
-- newest run wakes waiting executors. PostgreSQL keeps a statement's new rows until its end, for
-- the trigger, so no statement inserts more than 16 MB of inputs.
create or replace function lenses.fn_insert_runs(
  p_decisions lenses.slot_decision[],
  p_now timestamptz,
  p_trigger_mode text,
  p_triggered_by text default null,
  p_looks boolean default true
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant bigint := 16777216;
  -- Each try but the first follows an insert of the same slot that was committed meanwhile.
  c_tries constant integer := 3;
  v_part lenses.slot_decision[];
  v_inserted integer;
  v_schema text;
  v_table text;
  v_constraint text;
begin
  for v_try in 1 .. c_tries loop
    begin
      if (select coalesce(sum(d.inputs_bytes), 0) from unnest(p_decisions) as d) <= c_most then
        v_inserted := lenses.fn_insert_run_batch(
          p_decisions, p_now, p_trigger_mode, p_triggered_by, p_looks);
      else
        v_inserted := 0;
        for v_part in
          select array_agg(q.d)
          from (
            select d, sum(d.inputs_bytes) over (order by d.slot, d.schedule_id) / c_most as part
            from unnest(p_decisions) as d
            where d.decision = 'dispatch'
          ) as q
          group by floor(q.part)
          order by floor(q.part)
        loop
          v_inserted := v_inserted + lenses.fn_insert_run_batch(
            v_part, p_now, p_trigger_mode, p_triggered_by, p_looks);
        end loop;
      end if;
      exit;
    exception when unique_violation then
      -- What anything else refuses, an operator's index or another table, no look can find.
      get stacked diagnostics
        v_schema = schema_name,
        v_table = table_name,
        v_constraint = constraint_name;
      if (v_schema, v_table) <> ('lenses', 'workflow_runs')
        or v_constraint <> all (array[
          'workflow_runs_pkey', 'workflow_runs_id_lenser_id_key',
          'workflow_runs_schedule_id_scheduled_for_key'])
      then
        raise;
      elsif not p_looks then
        return null;
      elsif current_setting('transaction_isolation') <> 'read committed' then
        raise exception using
          errcode = '40001',
          message = 'another transaction has made a run of one of these slots meanwhile',
          hint = 'Repeat the transaction.';
      elsif v_try = c_tries then
        raise;
      end if;
    end;
  end loop;
  if v_inserted > 0 then
    perform lenses.fn_notify_executors();
  end if;
  return v_inserted;
end;
$$;
