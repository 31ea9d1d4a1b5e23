-- Raises 22023 for a cron expression that is missing, too long or not five fields; p_fields is
-- NULL for the first two. Called by the parser alone; never returns.
create or replace function lenses.fn_cron_refuse_fields(p_cron_expr text, p_fields text[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_fields);
begin
  if p_cron_expr is null then
    raise exception using
      errcode = '22023',
      column = 'cron_expr',
      message = 'invalid cron expression: it is missing (null)',
      hint = 'Write five fields: minute hour day-of-month month day-of-week, such as 0 9 * * 1-5.';
  elsif p_fields is null then
    raise exception using
      errcode = '22023',
      column = 'cron_expr',
      message = format(
        'invalid cron expression %s: %s characters, at most 1000 are allowed',
        lenses.fn_cron_quote(p_cron_expr, 60), length(p_cron_expr)
      ),
      hint = 'Shorten lists to ranges and steps, such as 0-59 or */5.';
  end if;

  raise exception using
    errcode = '22023',
    column = 'cron_expr',
    message = format(
      'invalid cron expression %s: %s field%s found, the 5 fields are minute, hour, day-of-month, '
      'month, day-of-week',
      lenses.fn_cron_quote(p_cron_expr, 200), v_count, case when v_count = 1 then '' else 's' end
    ),
    hint = left(lenses.fn_cron_hint_fields(p_cron_expr, p_fields), 400);
end;
$$;
