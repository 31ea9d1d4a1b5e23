-- The counts of what was there before they were kept. Its triggers hold the tables until this commits.
select lenses.fn_recount()
where not exists (select from lenses.lenser_usage) and not exists (select from lenses.run_counts);
