-- The roles that an lf-sql made, and whether somebody who is no installer (a member of the owner
-- role) acts as one.
select
  r.rolname::text as name,
  exists (
    select 1
    from pg_catalog.pg_auth_members as m
    where
      m.roleid = r.oid
      and m.member <> current_user::pg_catalog.regrole
      and not pg_catalog.pg_has_role(m.member, pg_catalog.to_regrole('lf_sql_owner'), 'member')
  ) as is_used
from pg_catalog.pg_roles as r
where pg_catalog.shobj_description(r.oid, 'pg_authid') = 'made by lf-sql'
order by 1;
