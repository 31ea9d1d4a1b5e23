-- The five roles, where they are missing and we may make them, and our own membership in the two
-- owner roles. Roles are the whole server's: installers in other databases may be at the same
-- place, so what is there is left alone. Those that we make carry a comment, by which `uninstall`
-- knows them. What an owner role may do beyond owning is taken from it, aloud: somebody else made
-- it, or changed it.

do $$
declare
  v_role text;
  v_is_super constant boolean := (
    select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user
  );
  v_can_create constant boolean := v_is_super or (
    select r.rolcreaterole from pg_catalog.pg_roles as r where r.rolname = current_user
  );
  v_is_16 constant boolean := pg_catalog.current_setting('server_version_num')::integer >= 160000;
  v_inherit text;
  v_too_much text;
begin
  foreach v_role in array array['lf_sql_owner', 'lf_sql_engine', 'anon', 'authenticated',
    'service_role'] loop
    if v_can_create and pg_catalog.to_regrole(v_role) is null then
      begin
        execute pg_catalog.format('create role %I nologin noinherit', v_role);
        execute pg_catalog.format('comment on role %I is %L', v_role, 'made by lf-sql');
      exception when duplicate_object or unique_violation then
        null;  -- an installer in another database was faster
      end;
    end if;
    if v_role in ('anon', 'authenticated') and exists (
      select from pg_catalog.pg_roles as r where r.rolname = v_role and r.rolcanlogin
    ) then
      raise warning 'lf-sql: role % may log in, and then claim to be anybody: alter role % nologin',
        v_role, v_role;
    end if;
    select pg_catalog.concat_ws(
      ' ', case when r.rolsuper then 'nosuperuser' end, case when r.rolbypassrls
        then 'nobypassrls' end,
      case when r.rolcreaterole then 'nocreaterole' end, case when r.rolreplication
        then 'noreplication' end,
      case when r.rolcreatedb then 'nocreatedb' end, case when r.rolcanlogin then 'nologin' end
    ) into v_too_much
    from pg_catalog.pg_roles as r
    where r.rolname = v_role and v_role like 'lf\_sql\_%'
      and (v_can_create or pg_catalog.pg_has_role(r.oid, 'member'));
    if v_too_much <> '' then
      begin
        execute pg_catalog.format('alter role %I %s', v_role, v_too_much);
      exception when insufficient_privilege then
        -- Not to be had: the plan has put the installing role in its place.
        continue when not pg_catalog.pg_has_role(v_role, 'usage') and case
          when v_is_16 then not pg_catalog.pg_has_role(v_role, 'member with admin option')
          else v_too_much ~ '\ynosuperuser\y' end;
        raise exception using
          errcode = '42501',
          message = pg_catalog.format(
            'role %s has more rights than lf-sql may use it with', v_role
          ),
          hint = pg_catalog.format('As a superuser: alter role %I %s.', v_role, v_too_much);
      end;
      raise warning 'lf-sql: role % had more rights than it needs: alter role % %', v_role, v_role,
        v_too_much;
    end if;
    continue when pg_catalog.to_regrole(v_role) is null or pg_catalog.pg_has_role(v_role, 'usage');
    -- Somebody else's, and not ours to grant: the plan has put the installing role in its place.
    continue when not (v_is_super or not v_is_16 and v_can_create)
      and not pg_catalog.pg_has_role(v_role, 'member with admin option');
    -- The installing role works on what the owner roles own, and acts as a tenant or an operator
    -- where it is asked to.
    v_inherit := case when v_role like 'lf\_sql\_%' then 'true' else 'false' end;
    if v_is_16 and not pg_catalog.pg_has_role(v_role, 'set') then
      execute pg_catalog.format(
        'grant %I to current_user with inherit %s, set true', v_role, v_inherit);
    elsif not v_is_16 and not pg_catalog.pg_has_role(v_role, 'member') then
      execute pg_catalog.format('grant %I to current_user', v_role);
    elsif v_is_16 and v_inherit = 'true' then
      execute pg_catalog.format('grant %I to current_user with inherit true, set true', v_role);
    end if;
  end loop;
end;
$$;
