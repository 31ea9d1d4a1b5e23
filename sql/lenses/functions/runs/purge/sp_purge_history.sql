-- For the nightly job: deletes history past its retention in small batches and commits each, so
-- that a statement timeout loses only the current batch. It then drops the partitions of events and
-- logs that are past their retention, one a transaction. Last, it makes the partitions of the next
-- days, because what is in the way of making them must not stop the deleting. Where a lock is not
-- free it tries again, a hundred times at most. It is invoker, since a definer cannot commit, and
-- has no SET clause for the same reason: every name, type and operator is qualified.
create or replace procedure lenses.sp_purge_history()
language plpgsql
as $$
declare
  v_deleted pg_catalog.int4;
  v_outcome pg_catalog.text;
  v_is_made pg_catalog.bool;
  v_tries pg_catalog.int4;
begin
  loop
    v_deleted := lenses.fn_purge_history_batch(pg_catalog.now(), 5000);
    commit;
    exit when v_deleted operator(pg_catalog.=) 0;
  end loop;

  v_tries := 100;
  loop
    v_outcome := lenses.fn_drop_partition(pg_catalog.now());
    commit;
    exit when v_outcome operator(pg_catalog.=) 'none';
    continue when v_outcome operator(pg_catalog.=) 'dropped';
    v_tries := v_tries operator(pg_catalog.-) 1;
    exit when v_tries operator(pg_catalog.=) 0;
    perform pg_catalog.pg_sleep(0.2);
  end loop;

  v_tries := 100;
  loop
    v_is_made := lenses.fn_make_partitions(true);
    commit;
    v_tries := v_tries operator(pg_catalog.-) 1;
    exit when v_is_made or v_tries operator(pg_catalog.=) 0;
    perform pg_catalog.pg_sleep(0.2);
  end loop;
end;
$$;

comment on procedure lenses.sp_purge_history() is
  'Deletes runs that are over, events, logs, ticks and the like that are older than their '
  'retention in dispatch_settings: days of events and logs as partitions that are dropped, the '
  'rest in small committed batches; makes the partitions of the next days. Called outside a '
  'transaction, by the installing role.';
