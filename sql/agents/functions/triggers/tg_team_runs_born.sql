-- Refuses an approval that is inserted before its run: it would escape the guard, which takes the
-- requirement from the run. Roles with the table owner's rights may restore rows in any order.
create or replace function agents.tg_team_runs_born()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_has_role(
    current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage')
    or exists (select from lenses.workflow_runs as r where r.id = new.workflow_run_id)
  then
    return new;
  end if;
  raise exception using
    errcode = '23503',
    column = 'workflow_run_id',
    message = format(
      'there is no workflow run "%s" yet that an approval could belong to',
      coalesce(new.workflow_run_id::text, 'NULL')
    ),
    hint = 'Insert the run; its approval is made with it.';
end;
$$;
