-- Stores the catalogue as this install leaves it, for `lf-sql verify`. The installer fills in @…@.
delete from lf_sql.expected_objects;

insert into lf_sql.expected_objects (kind, identity, facts)
select c.kind, c.identity, c.facts from (
@catalogue@
) as c;
