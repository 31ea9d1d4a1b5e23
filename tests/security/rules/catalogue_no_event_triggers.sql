-- No event trigger is ours: they need a superuser.
-- breaks: create function lenses.planted() returns event_trigger language plpgsql as 'begin end'; create event trigger planted on ddl_command_end execute function lenses.planted()
select e.evtname from pg_event_trigger as e join our_functions as f on f.oid = e.evtfoid
