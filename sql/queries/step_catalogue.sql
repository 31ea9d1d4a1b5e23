-- The catalogue as this install leaves it, for `lf-sql verify`. @…@ is filled in by the installer.
delete from lf_sql.expected_objects;

insert into lf_sql.expected_objects (kind, identity, facts)
select c.kind, c.identity, c.facts from (
@catalogue@
) as c;
