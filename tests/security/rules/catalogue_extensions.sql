-- No extension lives in our schemas.
-- breaks: create extension pg_trgm schema lenses
select e.extname from pg_extension as e join our_schemas as r on r.oid = e.extnamespace
