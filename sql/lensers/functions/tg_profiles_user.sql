-- owner: lf_sql_engine
-- The user of a profile may approve its runs, so changes of user_id are guarded. tg_argv[0] says
-- who writes, owner or other, as the trigger's WHEN clause saw the caller. The owner's role may
-- change user_id, and that is recorded. For any other role, service_role above all, the row's id
-- and user_id stay as they were, and the attempt is recorded. A deleted profile is recorded with
-- the user it had.
create or replace function lensers.tg_profiles_user()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  v_is_refused constant boolean := tg_op = 'UPDATE' and tg_argv[0] <> 'owner';
  v_action constant text := case
    when tg_op = 'DELETE' then 'profile_deleted'
    when v_is_refused then 'profile_user_change_refused'
    else 'profile_user_changed' end;
begin
  insert into agents.action_logs (lenser_id, action_type, payload)
  values (old.id, v_action, jsonb_build_object(
    'profile_id', old.id, 'old_user_id', old.user_id, 'role', v_role, 'session_user', session_user
  ) || case when tg_op = 'UPDATE'
    then jsonb_build_object('new_profile_id', new.id, 'new_user_id', new.user_id) else '{}' end);
  raise log '% of profile % by role "%"', v_action, old.id, v_role;
  if tg_op = 'DELETE' then
    return old;
  end if;
  if v_is_refused then
    raise warning 'profile % keeps its user: the change is refused', old.id
      using hint = 'A role with the rights of lf_sql_owner changes it; this attempt is recorded.';
    new.id := old.id;
    new.user_id := old.user_id;
  end if;
  return new;
end;
$$;
