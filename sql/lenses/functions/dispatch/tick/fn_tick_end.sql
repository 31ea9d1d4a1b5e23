-- owner: lf_sql_engine
-- Ends a tick and returns its row with the figures; p_note says why it ended early, if it did.
create or replace function lenses.fn_tick_end(p_tick_id bigint, p_note text default null)
returns lenses.dispatch_ticks
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
update lenses.dispatch_ticks as t
set finished_at = clock_timestamp(), note = nullif(left(concat_ws('; ', t.note, p_note), 2000), ''),
  fresh_turns = null, conditional_turns = null, late_turns = null
where t.id = p_tick_id and t.finished_at is null
returning t.*
$$;

comment on function lenses.fn_tick_end(bigint, text) is
  'Ends the begun tick p_tick_id, with p_note (why it ended early; NULL: it did not). Returns its '
  'row, NULL where it has ended or is unknown.';
