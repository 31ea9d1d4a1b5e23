-- A trigger that refuses or guards is enabled ALWAYS: replica mode does not pass it.
-- breaks: alter table agents.action_logs enable trigger action_logs_refuse_delete
select t.identity || ' ' || g.tgname
from our_tables as t
join pg_trigger as g on g.tgrelid = t.oid and not g.tgisinternal
where g.tgenabled <> 'A' and g.tgname ~ '(refuse|guard)'
