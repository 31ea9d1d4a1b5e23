-- For the owner, and nobody else: service_role has no part in it.
create or replace function public.fn_decide_workflow_runs(
  p_run_ids uuid[],
  p_decision text,
  p_note text default null
)
returns setof uuid
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_decide_workflow_runs(p_run_ids, p_decision, p_note)
$$;

comment on function public.fn_decide_workflow_runs(uuid[], text, text) is
  'Decides at most 1000 of the caller''s runs that wait for approval, as fn_decide_workflow_run '
  'does one. Returns the ids that were decided; a run that does not wait (any more) is left out '
  'and stops no other. 22023: another word, NULL among the ids, or too many; 42501: one of them '
  'is not the caller''s, or unknown, and none is decided.';
