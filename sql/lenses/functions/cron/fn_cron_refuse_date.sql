-- Raises 22023 for a day of the month that none of the months asked for has, such as 30 February.
-- Called by the parser alone; never returns.
create or replace function lenses.fn_cron_refuse_date(p_cron_expr text, p_fields text[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '22023',
    message = format(
      'invalid cron expression %s: day-of-month field, item %s: a date that never comes, the '
      'months %s have no such day (allowed: 1-29 in February, 1-30 in April, June, September and '
      'November, 1-31 in the others)',
      lenses.fn_cron_quote(p_cron_expr, 200), lenses.fn_cron_quote(p_fields[3], 60),
      lenses.fn_cron_quote(p_fields[4], 60)
    ),
    hint = 'Choose a day that one of the months has, or other months. A month''s last day is 28 '
      'or 29 in month 2, 30 in months 4,6,9,11 and 31 in the others.';
end;
$$;
