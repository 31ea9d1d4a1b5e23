-- The first step of an expression's minute, hour or day-of-month field that does not divide the
-- field, so that the last distance of each round is another: {"field", "item", "step", "round",
-- "last"}; NULL where there is none.
create or replace function lenses.fn_lint_steps(p_cron_expr text)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'field', f.name, 'item', i.item, 'step', s.step, 'round', f.size, 'last', f.size % s.step)
  from unnest(
    (array_remove(string_to_array(
      translate(btrim(p_cron_expr, E' \t\r\n'), E'\t', ' '), ' '), ''))[1:3],
    array['minute', 'hour', 'day-of-month'], array[60, 24, 31]
  ) with ordinality as f (field, name, size, place)
  cross join lateral unnest(string_to_array(f.field, ',')) as i (item)
  cross join lateral (select substring(
    i.item from '^(?:[*]|[0-9]+)/([0-9]{1,2})$')::integer as step) as s
  where s.step > 1 and f.size % s.step <> 0 and s.step < f.size
  order by f.place
  limit 1
$$;
