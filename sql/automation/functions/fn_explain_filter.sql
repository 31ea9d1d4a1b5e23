-- A filter for people to read: one row for each test, in the order of paths and operators, each
-- judged by fn_eval_filter itself. A filter holds where every row does. Raises 22023 for anything
-- that is not a filter.
create or replace function automation.fn_explain_filter(p_filter jsonb, p_payload jsonb)
returns table (path text, operator text, operand jsonb, value jsonb, is_met boolean)
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform automation.fn_check_filter(p_filter);
  return query
  select
    e.key, t.key, t.value, automation.fn_pointer_value(p_payload, e.key),
    automation.fn_eval_filter(
      jsonb_build_object(e.key, jsonb_build_object(t.key, t.value)), p_payload)
  from jsonb_each(p_filter) as e
  cross join lateral jsonb_each(e.value) as t
  order by e.key collate "C", t.key collate "C";
end;
$$;

comment on function automation.fn_explain_filter(jsonb, jsonb) is
  'The tests of a filter, a row each: path, operator, operand, value (what the path names in '
  'p_payload; null where there is nothing) and is_met. fn_eval_filter is true where every row is '
  'met. 22023: not a filter.';
