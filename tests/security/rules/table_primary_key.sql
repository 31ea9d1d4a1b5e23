-- Every table has a primary key.
-- breaks: alter table lenses.timezones drop constraint timezones_pkey
select t.identity from our_tables as t
where not exists (select from pg_constraint as o where o.conrelid = t.oid and o.contype = 'p')
