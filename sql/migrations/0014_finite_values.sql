-- squawk-ignore-file ban-drop-constraint, constraint-missing-not-valid
-- Numbers and instants that compare with none, written past the RPCs. What is there already is mended
-- first; what could not be seen or mended makes the new constraint, and so the upgrade, fail.

-- Nobody spent NaN; as a limit it was none, since nothing reaches it.
update lenses.workflow_runs set spent_credits = 0 where spent_credits = 'NaN';
update agents.policies set spending_limit_credits = null where spending_limit_credits = 'NaN';

-- NaN is above every number, so is its negative. One comparison: each statement that writes a run reads
-- the CHECK from its text.
alter table lenses.workflow_runs
  drop constraint workflow_runs_spent_credits_check,
  add constraint workflow_runs_spent_credits_check check (-spent_credits <= '0');
alter table agents.policies
  drop constraint policies_spending_limit_credits_check,
  add constraint policies_spending_limit_credits_check check (-spending_limit_credits <= '0');

-- The table's trigger finds the next slot at an edit that leaves next_run_at NULL.
do $$
declare
  v_ids uuid[] := array(select c.id from agents.gateway_crons as c where not isfinite(c.next_run_at));
begin
  update agents.gateway_crons set next_run_at = null where id = any (v_ids);
  update agents.gateway_crons set is_active = is_active where id = any (v_ids);
end;
$$;

alter table agents.gateway_crons
  add constraint gateway_crons_next_run_at_check check (isfinite(next_run_at));

-- Refused from now on by the row's own trigger, which would then refuse every edit of such a row. The
-- slots of an interval stay where they are: next_run_at is one of them.
update lenses.workflow_schedules
set created_at = coalesce(next_run_at - interval_ms * interval '1 millisecond', now())
where not isfinite(created_at);
update lenses.workflow_schedules set due_at = null where not isfinite(due_at);
