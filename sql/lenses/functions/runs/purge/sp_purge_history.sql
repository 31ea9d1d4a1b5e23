-- For the nightly job: history past its retention goes in small batches, each committed, so that a
-- statement timeout loses nothing but the batch at hand. Invoker, since a definer cannot commit,
-- and without SET for the same reason: every name, type and operator is qualified.
create or replace procedure lenses.sp_purge_history()
language plpgsql
as $$
declare
  v_deleted pg_catalog.int4;
begin
  loop
    v_deleted := lenses.fn_purge_history_batch(pg_catalog.now(), 2000);
    commit;
    exit when v_deleted operator(pg_catalog.=) 0;
  end loop;
end;
$$;

comment on procedure lenses.sp_purge_history() is
  'Deletes runs that are over, events, logs, ticks and the like that are older than '
  'dispatch_settings.retention and ticks_retention, in small committed batches. Called outside a '
  'transaction, by the installing role.';
