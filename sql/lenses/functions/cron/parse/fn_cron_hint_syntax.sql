-- A hint for an item of a cron field that is not in the grammar: what it means in another
-- scheduler, or what is wrong with its form.
create or replace function lenses.fn_cron_hint_syntax(p_field integer, p_item text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item text := upper(left(p_item, 60) collate "C");
  v_strange text := substring(v_item from E'[^\x01-\x7f]');
  v_short text := regexp_replace(v_item, '([A-Z]{3})[A-Z]+', E'\\1', 'g');
  v_number text := substring(v_item from '[0-9]+');
  v_names constant text := '(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)';
  v_weekdays constant text := '(SUN|MON|TUE|WED|THU|FRI|SAT)';
  v_day_item constant text := lenses.fn_cron_hint_day_item(p_field, v_item);
begin
  if v_item = '' then
    return 'Remove the comma that has nothing before or after it.';
  elsif v_strange is not null then
    return format(
      'Only plain ASCII is understood; replace the character "%s" (U+%s).',
      v_strange, upper(lpad(to_hex(ascii(v_strange)), 4, '0'))
    );
  elsif v_item ~ '^(CRON_)?TZ=' then
    return 'Leave the zone out of the expression and give it as the schedule''s timezone.';
  elsif v_item ~ '^@' then
    return 'Nicknames are not supported; write five fields, such as 0 0 * * * for @daily.';
  elsif v_item ~ '[?]' then
    return 'Write * where other schedulers take ?.';
  elsif v_day_item is not null then
    return v_day_item;
  elsif v_item ~ '^(H|R)([(]|/|$)' or v_item ~ '~' then
    return 'Hashed and random values (H, R, ~) are not supported: choose a value; the schedule''s '
      'jitter spreads runs that would start together.';
  elsif p_field = 4 and v_short <> v_item
    and v_short ~ ('^' || v_names || '(-' || v_names || ')?(/[0-9]+)?$') then
    return format('Month names have three letters: write %s.', v_short);
  elsif p_field = 5 and v_short <> v_item
    and v_short ~ ('^' || v_weekdays || '(-' || v_weekdays || ')?(/[0-9]+)?$') then
    return format('Weekday names have three letters: write %s.', v_short);
  elsif p_field <> 4 and v_short ~ ('^' || v_names || '($|[^A-Z0-9_])') then
    return 'Month names belong in the fourth field.';
  elsif p_field <> 5 and v_short ~ ('^' || v_weekdays || '($|[^A-Z0-9_])') then
    return 'Weekday names belong in the fifth field.';
  elsif v_item ~ '^[*][0-9]+$|^[0-9]+[*]$' then
    return format('Write */%s for every %s, or %s alone.', v_number, v_number, v_number);
  elsif v_item ~ '^[*][*]' or v_item ~ '^[*]-|-[*]' then
    return 'A star stands alone or before a step, as in * or */5; ranges run from value to value.';
  elsif v_item ~ '^/[0-9]+$' then
    return format('Write */%s.', v_number);
  elsif v_item ~ '/.*/|//' then
    return 'An item has one step at most, as in */5.';
  elsif v_item ~ '/' and v_item !~ '/[0-9]+$' then
    return 'A step is a whole number from 1 on, as in */5.';
  elsif v_item ~ '^-|-$|-.*-' then
    return 'A range has two ends, as in 1-5; values are never negative.';
  elsif v_item ~ '[0-9][.][0-9]' or v_item ~ '^[+]' or v_item ~ '^0X|^[0-9]+E[0-9]' then
    return 'Values are plain whole numbers.';
  elsif v_item ~ '[''"]' then
    return 'Leave the quotes out.';
  elsif v_item ~ '[;|&]' then
    return 'Items of a list are separated by commas.';
  elsif v_item ~ E'[\n\r]' then
    return 'One expression stands on one line.';
  elsif v_item ~ '[A-Z]' and p_field in (4, 5) then
    return format(
      'Names are %s, in any case.',
      case p_field when 4 then 'JAN to DEC' else 'SUN to SAT' end
    );
  end if;
  return 'Write *, a value, a range a-b, a step */n, or a list a,b of these.';
end;
$$;
