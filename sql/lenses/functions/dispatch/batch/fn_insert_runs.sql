-- owner: lf_sql_engine
-- Inserts the runs of judged slots (those with decision dispatch); says how many. Insert-only: a
-- slot whose run is there already is left alone and not counted. Events and team runs follow by the
-- table's trigger. p_triggered_by NULL: the schedule's id. The newest run wakes waiting executors.
-- A statement's new rows are kept until its end, for the trigger: so none inserts more than 16 MB
-- of inputs, whatever the number of slots.
create or replace function lenses.fn_insert_runs(
  p_decisions lenses.slot_decision[],
  p_now timestamptz,
  p_trigger_mode text,
  p_triggered_by text default null
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant bigint := 16777216;
  v_part lenses.slot_decision[];
  v_inserted integer := 0;
begin
  if (select coalesce(sum(d.inputs_bytes), 0) from unnest(p_decisions) as d) <= c_most then
    v_inserted := lenses.fn_insert_run_batch(p_decisions, p_now, p_trigger_mode, p_triggered_by);
  else
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
      v_inserted := v_inserted
        + lenses.fn_insert_run_batch(v_part, p_now, p_trigger_mode, p_triggered_by);
    end loop;
  end if;
  if v_inserted > 0 then
    perform lenses.fn_notify_executors();
  end if;
  return v_inserted;
end;
$$;
