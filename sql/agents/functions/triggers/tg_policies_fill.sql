-- owner: lf_sql_engine
-- A policy belongs to its agent's lenser.
create or replace function agents.tg_policies_fill()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.lenser_id is null then
    select a.lenser_id into new.lenser_id from agents.ai_lensers as a where a.id = new.ai_lenser_id;
  end if;
  if tg_op = 'UPDATE' then
    if new is distinct from old and new.updated_at = old.updated_at then
      new.updated_at := now();
    end if;
  end if;
  return new;
end;
$$;

comment on function agents.tg_policies_fill() is
  'Fills lenser_id from the agent, and updated_at.';
