"""The whole catalogue of a database, and of its server where roles are concerned, to compare."""

from __future__ import annotations

from tests.support.database import Database

_QUERY = """
select 'schema' as kind, concat_ws(' ', n.nspname, n.nspowner::regrole, n.nspacl) as what
from pg_namespace as n where n.nspname !~ '^pg_(temp|toast)'
union all
select 'relation', concat_ws(' ', c.oid::regclass, c.relkind, c.relowner::regrole, c.relacl)
from pg_class as c where c.relnamespace::regnamespace::text !~ '^pg_(temp|toast)'
union all
select 'routine', concat_ws(' ', p.oid::regprocedure, p.proowner::regrole, md5(p.prosrc), p.proacl)
from pg_proc as p
union all
select 'type', concat_ws(' ', t.oid::regtype, t.typowner::regrole) from pg_type as t
where t.typnamespace::regnamespace::text !~ '^pg_(temp|toast)'
union all
select 'trigger', concat_ws(' ', t.tgname, t.tgrelid::regclass, t.tgenabled)
from pg_trigger as t where not t.tgisinternal
union all
select 'policy', concat_ws(' ', p.polname, p.polrelid::regclass) from pg_policy as p
union all
select 'constraint', concat_ws(' ', o.conname, o.conrelid::regclass, o.contypid::regtype) from pg_constraint as o
union all
select 'operator', o.oid::regoperator::text from pg_operator as o
union all
select 'cast', concat_ws(' ', c.castsource::regtype, c.casttarget::regtype) from pg_cast as c
union all
select 'extension', concat_ws(' ', e.extname, e.extnamespace::regnamespace) from pg_extension as e
union all
select 'event trigger', e.evtname::text from pg_event_trigger as e
union all
select 'publication', p.pubname::text from pg_publication as p
union all
select 'default acl', concat_ws(' ', d.defaclrole::regrole, d.defaclnamespace, d.defaclacl) from pg_default_acl as d
union all
select 'setting', concat_ws(' ', s.setdatabase, s.setrole, s.setconfig) from pg_db_role_setting as s
union all
select 'database', concat_ws(' ', d.datname, d.datdba::regrole, d.datacl)
from pg_database as d where d.datname = current_database()
union all
select 'comment', concat_ws(' ', d.classoid::regclass, d.objsubid, md5(d.description)) from pg_description as d
"""
_ROLES = """
select 'role', r.rolname::text from pg_roles as r
union all
select 'member', concat_ws(' ', m.roleid::regrole, 'of', m.member::regrole, m.admin_option)
from pg_auth_members as m
union all
select 'role comment', concat_ws(' ', d.objoid::regrole, d.description)
from pg_shdescription as d where d.classoid = 'pg_authid'::regclass
"""


def snapshot(db: Database, *, roles: bool = True) -> set[tuple[str, str]]:
    """Rows that are equal where nothing is left behind and nothing is lost."""
    query = f"{_QUERY} union all {_ROLES}" if roles else _QUERY
    with db.transaction():
        db.execute("set local search_path = pg_catalog")
        return {(row[0], row[1]) for row in db.rows(query)}
