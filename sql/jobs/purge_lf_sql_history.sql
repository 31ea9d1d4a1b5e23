-- job: purge-lf-sql-history
-- schedule: 17 3 * * *
-- requires: lenses.sp_purge_history
-- Once a night: deletes history past its retention, in small batches, each committed.

call lenses.sp_purge_history();
