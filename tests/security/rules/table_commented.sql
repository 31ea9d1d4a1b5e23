-- Every table says what it holds.
-- breaks: comment on table lenses.workflows is null
select t.identity from our_tables as t where not t.is_day and obj_description(t.oid, 'pg_class') is null
