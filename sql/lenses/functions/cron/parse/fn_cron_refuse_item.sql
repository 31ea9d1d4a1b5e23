-- Raises 22023 for an item of a field; p_kind is syntax, range, reversed or step.
-- Called by the parser alone; never returns.
create or replace function lenses.fn_cron_refuse_item(
  p_cron_expr text,
  p_field integer,
  p_item text,
  p_kind text
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text :=
    (array['minute', 'hour', 'day-of-month', 'month', 'day-of-week'])[p_field];
  v_allowed text :=
    (array['0-59', '0-23', '1-31', '1-12 or JAN-DEC', '0-7 or SUN-SAT'])[p_field];
  v_reason text;
begin
  v_reason := case p_kind
    when 'range' then 'out of range'
    when 'reversed' then 'the range ends before it starts'
    when 'step' then 'the step must be 1 to ' || (array[59, 23, 31, 12, 7])[p_field]
    else case when p_item = '' then 'empty list item' else 'not in the grammar' end
  end;
  raise exception using
    errcode = '22023',
    column = 'cron_expr',
    message = format(
      'invalid cron expression %s: %s field, item %s: %s (allowed: %s)',
      lenses.fn_cron_quote(p_cron_expr, 200), v_name, lenses.fn_cron_quote(p_item, 60),
      v_reason, v_allowed
    ),
    detail = format(
      'The %s field takes *, values %s, ranges a-b, steps */n, a/n or a-b/n, %sand lists of these.',
      v_name, v_allowed,
      case p_field when 3 then 'L, L-n, nW, LW, ' when 5 then 'd#k, dL, ' else '' end
    ),
    hint = case p_kind
      when 'range' then coalesce(
        case when p_field = 2 then lenses.fn_cron_hint_swapped(p_cron_expr) end,
        lenses.fn_cron_hint_range(p_field, p_item)
      )
      when 'reversed' then lenses.fn_cron_hint_reversed(p_field, p_item)
      when 'step' then lenses.fn_cron_hint_step(p_field, p_item)
      else lenses.fn_cron_hint_syntax(p_field, p_item)
    end;
end;
$$;
