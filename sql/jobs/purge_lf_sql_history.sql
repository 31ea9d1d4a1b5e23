-- job: purge-lf-sql-history
-- schedule: 17 3 * * *
-- requires: lenses.sp_purge_history
-- Once a night: history past its retention, in small committed batches.

call lenses.sp_purge_history();
