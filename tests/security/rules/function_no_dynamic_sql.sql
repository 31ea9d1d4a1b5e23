-- No text is ever executed as SQL.
-- breaks: create function lenses.planted(p text) returns void language plpgsql as 'begin execute p; end'
select f.identity
from our_functions as f
where f.body ~ '\mexecute\M' or f.body ~ '\m(dblink|query_to_xml|table_to_xml|cursor_to_xml|ts_stat)\w*\s*\('
