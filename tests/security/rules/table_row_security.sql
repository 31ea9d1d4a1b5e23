-- Row security is on, for every table and partition.
-- breaks: create table lenses.planted (id integer primary key)
select t.identity from our_tables as t where not t.relrowsecurity
