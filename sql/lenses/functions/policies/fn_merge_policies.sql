-- The four policies that apply to a schedule, and that its runs carry. Key by key its own policy
-- (p_own, an object of the four as they are stored) comes before that of its assignment, and that
-- before the server's default mode; of two approval policies the stricter applies. Where two levels
-- together would make a combination that a policy may not have (a fallback with another mode; skip
-- with serial and backfill or spread), the key that has no effect is dropped.
create or replace function lenses.fn_merge_policies(
  p_own jsonb,
  p_explicit text[],
  p_assignment_id uuid
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_assignment agents.workflow_assignments;
  v_policies jsonb := '{}';
  v_policy jsonb;
  v_name text;
  v_gates jsonb;
  v_mode text;
begin
  select a.* into v_assignment
  from agents.workflow_assignments as a where a.id = p_assignment_id;
  select d.default_queue_mode into v_mode from lenses.dispatch_settings as d;
  if v_assignment.id is null and v_mode = 'parallel' then
    return p_own;
  end if;

  for v_name, v_policy in
    select
      p.name,
      coalesce(lenses.fn_own_policy(p.name, p.given, v_assignment.explicit_defaults), '{}')
      || lenses.fn_own_policy(p.name, p_own -> p.name, p_explicit)
    from (
      values
        ('approval_policy', v_assignment.approval_policy),
        ('retry_policy', v_assignment.retry_policy),
        ('failure_policy', v_assignment.failure_policy),
        ('queue_policy', v_assignment.queue_policy)
    ) as p (name, given)
  loop
    if v_name = 'approval_policy' then
      select jsonb_agg(distinct g.value) into v_gates
      from jsonb_array_elements(
        coalesce(p_own #> '{approval_policy,gates}', '[]')
        || coalesce(v_assignment.approval_policy -> 'gates', '[]')) as g;
      v_policy := v_policy || jsonb_strip_nulls(jsonb_build_object(
        'requiresApproval',
        coalesce((p_own #>> '{approval_policy,requiresApproval}')::boolean, true)
        or v_assignment.id is not null
        and coalesce((v_assignment.approval_policy ->> 'requiresApproval')::boolean, true),
        'gates', v_gates));
    elsif v_name = 'failure_policy' and v_policy ->> 'mode' is distinct from 'fallback' then
      v_policy := v_policy - 'fallbackAssigneeId';
    elsif v_name = 'queue_policy' then
      v_policy := case when v_mode = 'parallel' then '{}'
        else jsonb_build_object('mode', v_mode) end || v_policy;
      if v_policy @> '{"mode": "serial", "onOverlap": "skip"}'
        and v_policy ->> 'onMissed' in ('backfill', 'spread') then
        v_policy := v_policy - 'onOverlap';
      end if;
    end if;
    v_policies := v_policies || jsonb_build_object(
      v_name, coalesce(nullif(v_policy, '{}'), lenses.fn_default_policies() -> v_name));
  end loop;
  return v_policies;
end;
$$;
