-- job: purge-lf-sql-history
-- requires: lenses.sp_purge_history
-- Once a night: history past its retention, in small committed batches.

select cron.schedule('purge-lf-sql-history', '17 3 * * *', 'call lenses.sp_purge_history()');
