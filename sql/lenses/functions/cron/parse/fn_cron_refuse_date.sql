-- Raises 22023 for a day that none of the months asked for has, such as 30 February, or that is
-- never the weekday asked for beside it, such as a second Monday on the 1st.
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
    column = 'cron_expr',
    message = format(
      'invalid cron expression %s: day-of-month field, item %s: a date that never comes, %s '
      '(allowed: 1-29 in February, 1-30 in April, June, September and November, 1-31 in the '
      'others)',
      lenses.fn_cron_quote(p_cron_expr, 200), lenses.fn_cron_quote(p_fields[3], 60),
      case
        when p_fields[5] = '*' then format(
          'the months %s have no such day', lenses.fn_cron_quote(p_fields[4], 60))
        else format(
          'in the months %s no such day is one of the days of the week %s, and both must match '
          'where one of the two fields begins with *',
          lenses.fn_cron_quote(p_fields[4], 60), lenses.fn_cron_quote(p_fields[5], 60))
      end
    ),
    hint = 'Choose a day that one of the months has, or other months. L is the last day of every '
      'month; the k-th weekday lies between day 7k-6 and day 7k.';
end;
$$;
