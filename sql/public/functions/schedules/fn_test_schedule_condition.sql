-- For the owner: a condition tried before it is stored, against what the tick would see now.
create or replace function public.fn_test_schedule_condition(
  p_workflow_id uuid,
  p_condition jsonb,
  p_schedule_id uuid default null
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_context jsonb;
begin
  perform lenses.fn_require_workflow(p_workflow_id);
  if p_schedule_id is not null then
    perform lenses.fn_require_schedule(p_schedule_id);
  end if;
  v_context := lenses.fn_condition_context(v_lenser_id, p_workflow_id, now()) || jsonb_build_object(
    'signal_rpc_result',
    case when p_schedule_id is not null then lenses.fn_condition_signal(p_schedule_id) end);
  return jsonb_build_object(
    'passes', automation.fn_eval_filter(nullif(p_condition, 'null'), v_context),
    'context', v_context);
end;
$$;

comment on function public.fn_test_schedule_condition(uuid, jsonb, uuid) is
  'Would a pre-dispatch condition of a schedule of the caller''s workflow hold now? {"passes", '
  '"context"}: the answer, and what it was asked of. Stores nothing. p_schedule_id adds the '
  'signal of that schedule. 22023: p_condition is no filter; 42501: not the caller''s workflow or '
  'schedule.';
