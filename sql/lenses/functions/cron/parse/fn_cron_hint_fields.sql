-- A hint for an expression that does not have five fields: what it means in another scheduler, or
-- what is wrong with its form. p_fields are the parts between its blanks. It parses other
-- expressions, each of five fields, so it never calls itself again.
create or replace function lenses.fn_cron_hint_fields(p_cron_expr text, p_fields text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_fields);
  v_first text := lower(p_fields[1] collate "C");
  v_nickname text := case v_first
    when '@yearly' then '0 0 1 1 *'
    when '@annually' then '0 0 1 1 *'
    when '@monthly' then '0 0 1 * *'
    when '@weekly' then '0 0 * * 0'
    when '@daily' then '0 0 * * *'
    when '@midnight' then '0 0 * * *'
    when '@hourly' then '0 * * * *'
    when '@every_minute' then '* * * * *'
  end;
  v_star integer := (
    select max(place) from generate_series(2, 5) as place where p_fields[place] = '*');
  -- five fields, from the first or the second on, or of six without the last *, with full weekday
  -- names and ? replaced
  v_heads text[] := array(
    select replace(regexp_replace(
      array_to_string(f.fields, ' '),
      '(sun|mon|tue|wed|thu|fri|sat)[a-z]*day', E'\\1', 'gi'), '?', '*')
    from (values
      (1, p_fields[1:5]), (2, p_fields[2:6]),
      (3, p_fields[1:v_star - 1] || p_fields[v_star + 1:6])
    ) as f (place, fields)
    order by f.place
  );
  v_is_first boolean := v_count > 5 and lenses.fn_cron_is_valid(v_heads[1]);
  v_is_second boolean := v_count > 5 and lenses.fn_cron_is_valid(v_heads[2]);
  v_is_seconds boolean := v_count > 5
    and lenses.fn_cron_is_valid(replace(p_fields[1], '?', '*') || ' * * * *');
  -- six fields of which the first is rather the minute: seconds are most often 0
  v_is_minute boolean := v_count = 6 and v_is_first and (p_fields[1] <> '0' or p_fields[2] = '*')
    and v_heads[3] <> v_heads[2] and lenses.fn_cron_is_valid(v_heads[3]);
  v_closed text := regexp_replace(
    btrim(translate(p_cron_expr, E'\t', ' ')), ' *([-,/]) *', E'\\1', 'g');
begin
  return case
    when v_nickname is not null and v_count > 1 then format(
      'Nicknames and commands are not supported; write %s alone in place of %s.',
      v_nickname, v_first)
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
    when v_first ~ '^[a-z_]+=' or p_fields[2] = '=' then
      'A setting of a crontab is not a schedule; write five fields, such as 0 9 * * 1-5.'
    when v_first like '#%' then
      'Comments are not supported; write the five fields alone.'
    when v_is_first and p_fields[6] like '#%' then
      'Comments are not supported; write the five fields alone: ' || v_heads[1]
    when v_is_first and v_count = 6 and p_fields[6] ~ '^[0-9]{4}$' then
      'Years are not supported; remove the last field: ' || v_heads[1]
    when v_is_second and v_count = 6 and not v_is_seconds then
      'Write five fields, without the first of these: ' || v_heads[2]
    when v_is_second and v_is_minute then format(
      'Seconds are not supported; remove the first field: %s. If that is the minute, remove a * '
      'instead: %s', v_heads[2], v_heads[3])
    when v_is_second and v_count = 6 then
      'Seconds are not supported; remove the first field: ' || v_heads[2]
    when v_is_second and v_count = 7 and p_fields[7] ~ '^[0-9*?,/-]+$' then
      'Seconds and years are not supported; remove the first and the last field: ' || v_heads[2]
    when cardinality(array_remove(string_to_array(v_closed, ' '), '')) = 5
      and lenses.fn_cron_is_valid(v_closed) then
      'Leave no blanks inside a field: write ' || v_closed
    when v_is_first then
      'Write the five fields alone, without a command: ' || v_heads[1]
    when v_first like '-%' and v_count > 5 then
      'Write the five fields alone, without the leading - and without a command.'
    when '-' = any (p_fields[2:]) or ',' = any (p_fields[2:])
      or exists (select 1 from unnest(p_fields) as field
        where field ~ '^[-,/][0-9]|[0-9*][-,/]$') then
      'Leave no blanks inside a field: write 1-5, 1,2 and */5.'
    when v_count = 6 and p_fields[6] ~ '^[0-9*?,/LW#$-]+$|^[A-Za-z]{3}([-,#].*)?$'
      and not v_is_seconds then
      'Write five fields: minute, hour, day of month, month, day of week.'
    when v_count = 6 and p_fields[6] ~ '^[0-9*?,/LW#$-]+$|^[A-Za-z]{3}([-,#].*)?$' then
      'Seconds are not supported; remove the first field: '
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
end;
$$;
