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
  v_first text := lower(p_fields[1] collate "C");
  v_nickname text;
  v_hint text;
begin
  if p_cron_expr is null then
    raise exception using
      errcode = '22023',
      message = 'invalid cron expression: it is missing (null)',
      hint = 'Write five fields: minute hour day-of-month month day-of-week, such as 0 9 * * 1-5.';
  elsif p_fields is null then
    raise exception using
      errcode = '22023',
      message = format(
        'invalid cron expression %s: %s characters, at most 1000 are allowed',
        lenses.fn_cron_quote(p_cron_expr, 60), length(p_cron_expr)
      ),
      hint = 'Shorten lists to ranges and steps, such as 0-59 or */5.';
  end if;

  v_nickname := case v_first
    when '@yearly' then '0 0 1 1 *'
    when '@annually' then '0 0 1 1 *'
    when '@monthly' then '0 0 1 * *'
    when '@weekly' then '0 0 * * 0'
    when '@daily' then '0 0 * * *'
    when '@midnight' then '0 0 * * *'
    when '@hourly' then '0 * * * *'
    when '@every_minute' then '* * * * *'
  end;
  v_hint := case
    when v_nickname is not null then
      format('Nicknames are not supported; write %s in place of %s.', v_nickname, v_first)
    when v_first = '@reboot' then
      'Nothing is run at a start of the server; choose a time.'
    when v_first = '@every' then
      'For a fixed period use an interval schedule.'
    when v_first like '@%' then
      'Nicknames are not supported; write five fields, such as 0 0 * * * for every midnight.'
    when v_first ~ '^(cron_)?tz=' then
      'Leave the zone out of the expression and give it as the schedule''s timezone.'
    when v_first like '#%' then
      'Comments are not supported; write the five fields alone.'
    when '-' = any (p_fields[2:]) or ',' = any (p_fields[2:])
      or exists (select 1 from unnest(p_fields) as field where field ~ '[-,/]$|^[-,/].') then
      'Leave no blanks inside a field: write 1-5, 1,2 and */5.'
    when v_count = 6 and p_fields[6] ~ '^[0-9]{4}$' then
      'Years are not supported; remove the last field: '
      || replace(array_to_string(p_fields[1:5], ' '), '?', '*')
    when v_count = 6 and p_fields[6] ~ '^[0-9*?,/LW#$-]+$|^[A-Za-z]{3}([-,#].*)?$' then
      'Seconds are not supported; remove the first field: '
      || replace(array_to_string(p_fields[2:6], ' '), '?', '*')
    when v_count = 7 and p_fields[7] ~ '^[0-9*?,/-]+$' then
      'Seconds and years are not supported; remove the first and the last field: '
      || replace(array_to_string(p_fields[2:6], ' '), '?', '*')
    when v_count > 5 then
      'Write the five fields alone, without a command.'
    when p_cron_expr ~ E'[\n\r\x0B\f]' then
      'Only blanks and tabs separate fields, no line breaks.'
    when p_cron_expr ~ E'[^\x01-\x7f]' then
      'Only plain ASCII blanks and tabs separate fields.'
    when p_cron_expr ~* 'second|minute|hour|day|^every' then
      'For a fixed period use an interval schedule; a cron expression has five fields.'
    else
      'Write * for each field that does not matter, such as 0 9 * * *.'
  end;
  raise exception using
    errcode = '22023',
    message = format(
      'invalid cron expression %s: %s field%s found, the 5 fields are minute, hour, day-of-month, '
      'month, day-of-week',
      lenses.fn_cron_quote(p_cron_expr, 200), v_count, case when v_count = 1 then '' else 's' end
    ),
    hint = left(v_hint, 400);
end;
$$;
