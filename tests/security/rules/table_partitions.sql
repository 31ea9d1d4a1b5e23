-- A partition addressed by its own name shows no more than its parent.
-- breaks: create table lenses.planted_parent (id integer primary key) partition by range (id); create table lenses.planted partition of lenses.planted_parent default; grant select on lenses.planted to authenticated
select t.identity
from our_tables as t
where t.relispartition and (
  not t.relrowsecurity or not t.relforcerowsecurity
  or exists (select from request_roles as r where has_table_privilege(r.oid, t.oid, 'select'))
)
