-- Counts the runs from before there were counts. The triggers exist by now, and hold the tables
-- until this commits.
select lenses.fn_recount(true);
