-- Row security binds the owner too.
-- breaks: alter table lenses.workflows no force row level security
select t.identity from our_tables as t where not t.relforcerowsecurity
