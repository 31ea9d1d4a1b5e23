-- The actions of a definition's nodes, for the gates of an approval policy. A malformed node has
-- none.
create or replace function lenses.fn_workflow_actions(p_definition jsonb)
returns text[]
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct (n.value ->> 'action') collate "C"), '{}')
  from jsonb_array_elements(
    case when jsonb_typeof(p_definition -> 'nodes') = 'array' then p_definition -> 'nodes' end
  ) n
  where jsonb_typeof(n.value -> 'action') = 'string';
$$;

comment on function lenses.fn_workflow_actions(jsonb) is
  'The distinct action strings of the definition''s nodes, sorted by code point; empty if there '
  'are none.';
