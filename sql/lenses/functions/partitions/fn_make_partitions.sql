-- Makes partitions of events and logs for tomorrow and the day after (UTC, by the server's clock);
-- returns false where a lock was not free, so that another try makes sense. A day of which the
-- default partition has rows already is left out: these rows go by DELETE. Nothing depends on a
-- partition, so whoever is in the way goes first. A large default partition takes long to read,
-- and inserts into it wait meanwhile: the nightly purge (p_is_patient) makes a month's partitions
-- then, so that it is read once, and a tick leaves it alone.
create or replace function lenses.fn_make_partitions(p_is_patient boolean)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_large constant bigint := 268435456;
  v_from constant timestamptz := date_trunc('day', now()) + interval '1 day';
  v_parent regclass;
  v_is_large boolean;
  v_days integer;
  v_is_done boolean := true;
begin
  foreach v_parent in array array[
    'lenses.workflow_run_events', 'agents.agent_run_events', 'agents.action_logs']::regclass[]
  loop
    v_is_large := pg_relation_size((v_parent || '_default')::regclass) > c_large;
    continue when v_is_large and not p_is_patient;
    v_days := case when v_is_large then 31 else 2 end;
    begin
      continue when v_is_large and exists (
        select from lenses.fn_partitions() as p
        where p.parent = v_parent and p.from_at = v_from + interval '1 day');
      perform lenses.fn_add_partitions(v_parent, v_from, v_days);
    exception
      when lock_not_available then
        v_is_done := false;
      when check_violation then
        v_is_done := lenses.fn_add_partitions_singly(v_parent, v_from, v_days) and v_is_done;
    end;
  end loop;
  return v_is_done;
end;
$$;
