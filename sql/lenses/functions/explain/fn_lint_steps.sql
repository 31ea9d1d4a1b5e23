-- The first step in an expression that does not divide its field, so that the last distance of each
-- round (hour, day, month, year, week) differs: {"field", "item", "step", "round", "last"}; NULL
-- where there is none.
create or replace function lenses.fn_lint_steps(p_cron_expr text)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'field', f.name, 'item', i.item, 'step', s.step, 'round', f.size,
    -- from the last value that the step reaches to the first one of the next round
    'last', f.size - (f.size - 1 - n.skipped) / s.step * s.step)
  from unnest(
    regexp_split_to_array(btrim(p_cron_expr, E' \t\r\n'), E'[ \t]+'),
    array['minute', 'hour', 'day-of-month', 'month', 'day-of-week'], array[60, 24, 31, 12, 7],
    array[0, 0, 1, 1, 0],
    array['', '', '', 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC', 'SUNMONTUEWEDTHUFRISAT']
  ) with ordinality as f (field, name, size, first, names, place)
  cross join lateral unnest(string_to_array(f.field, ',')) as i (item)
  cross join lateral (
    select regexp_match(i.item, '^([*]|[0-9]{1,2}|[A-Za-z]{3})/([0-9]{1,2})$') as parts
  ) as m
  cross join lateral (select m.parts[2]::integer as step) as s
  -- how far into the round the item begins
  cross join lateral (
    select case
      when m.parts[1] = '*' then 0
      when m.parts[1] ~ '^[0-9]' then (m.parts[1]::integer - f.first) % f.size
      else (position(upper(m.parts[1] collate "C") in f.names) - 1) / 3 end as skipped
  ) as n
  where s.step > 1 and f.size % s.step <> 0 and s.step < f.size
  order by f.place
  limit 1
$$;
