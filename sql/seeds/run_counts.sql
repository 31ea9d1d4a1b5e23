-- The counts of what was there before they were kept. Their triggers are there by now, and hold the
-- tables until this commits.
select lenses.fn_recount(true);
