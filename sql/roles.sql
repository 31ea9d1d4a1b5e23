-- Creates the five roles where they are missing and we may create them, and grants us membership in
-- the two owner roles. Roles belong to the whole server: an installer in another database may be
-- working at the same moment, so existing roles are left alone. Roles that we create carry a
-- comment, by which `uninstall` recognises them. An owner role that has more rights than it needs,
-- because another role created or changed it, loses them with a warning.

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
        null;  -- an installer in another database created it first
      end;
    end if;
    if v_role in ('anon', 'authenticated') and exists (
      select from pg_catalog.pg_roles as r where r.rolname = v_role and r.rolcanlogin
    ) then
      raise warning 'lf-sql: role % may log in, and then act as any tenant: alter role % nologin',
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
        -- The role cannot be made: the plan has put the installing role in its place.
        continue when not pg_catalog.pg_has_role(v_role, 'usage') and case
          when v_is_16 then not pg_catalog.pg_has_role(v_role, 'member with admin option')
          else v_too_much ~ '\ynosuperuser\y' end;
        raise exception using
          errcode = '42501',
          message = pg_catalog.format(
            'role %s has more rights than lf-sql allows', v_role
          ),
          hint = pg_catalog.format('As a superuser: alter role %I %s.', v_role, v_too_much);
      end;
      raise warning 'lf-sql: role % had more rights than it needs: alter role % %', v_role, v_role,
        v_too_much;
    end if;
    continue when pg_catalog.to_regrole(v_role) is null or pg_catalog.pg_has_role(v_role, 'usage');
    -- Another role owns it, and we may not grant it: the plan has put the installing role in its
    -- place.
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
