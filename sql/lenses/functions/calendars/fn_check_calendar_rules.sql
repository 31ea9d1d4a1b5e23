-- Checks the form of an array of calendar rules; raises 22023 with the rule and the way out.
-- lenses.fn_check_calendar_links checks what the rules refer to. p_path names the array in
-- messages; p_depth counts how deep "except" is nested.
create or replace function lenses.fn_check_calendar_rules(
  p_rules jsonb,
  p_path text default 'rules',
  p_depth integer default 1
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_kinds constant text[] :=
    '{weekdays,month_day,nth,easter,orthodox_easter,calendar}';
  c_weekday constant text := '^(SUN|MON|TUE|WED|THU|FRI|SAT)$';
  v_rule jsonb;
  v_place bigint;
  v_path text;
  v_key text;
  v_kind text;
  v_problem text;
  v_value jsonb;
begin
  if jsonb_typeof(p_rules) is distinct from 'array' or jsonb_array_length(p_rules) > 200 then
    raise exception using
      errcode = '22023',
      column = p_path,
      message = format('%s of a calendar must be an array of at most 200 rules', p_path),
      hint = 'For example [{"weekdays": ["SAT", "SUN"]}].';
  elsif p_depth > 4 then
    raise exception using
      errcode = '22023',
      column = p_path,
      message = format('%s: exceptions are nested more than three deep', p_path),
      hint = 'Write the exceptions of the exception as rules of their own.';
  end if;
  for v_rule, v_place in
    select r.rule, r.place - 1 from jsonb_array_elements(p_rules) with ordinality as r (rule, place)
  loop
    v_path := format('%s[%s]', p_path, v_place);
    if jsonb_typeof(v_rule) <> 'object' then
      raise exception using
        errcode = '22023',
        column = v_path,
        message = format('%s must be an object, not %s', v_path, left(v_rule::text, 60)),
        hint = 'For example {"month_day": "12-25"}.';
    end if;
    v_kind := null;
    for v_key in select k from jsonb_object_keys(v_rule) as k order by k loop
      if v_key = any (c_kinds) then
        if v_kind is not null then
          raise exception using
            errcode = '22023',
            column = v_path || '.' || v_key,
            message = format('%s is two rules in one: "%s" and "%s"', v_path, v_kind, v_key),
            hint = 'Write them as two rules; a date that any names is in.';
        end if;
        v_kind := v_key;
      elsif v_key <> all ('{from,until,except,observed}'::text[])
      then
        raise exception using
          errcode = '22023',
          column = v_path || '.' || left(v_key, 60),
          message = format(
            '%s has an unknown key "%s"%s', v_path, left(v_key, 60), coalesce(
              format('; the nearest is "%s"', lenses.fn_closest_word(
                v_key, c_kinds || '{from,until,except,observed}'::text[])), '')
          ),
          hint = format(
            'A rule has one of %s, and from, until or except; observed goes with month_day.',
            array_to_string(c_kinds, ', '));
      end if;
    end loop;
    v_value := coalesce(v_rule -> v_kind, v_rule);
    v_problem := case v_kind
      when 'weekdays' then case
        when jsonb_typeof(v_rule -> 'weekdays') <> 'array'
          or jsonb_array_length(v_rule -> 'weekdays') not between 1 and 7
          or exists (
            select from jsonb_array_elements(v_rule -> 'weekdays') as w (day)
            where jsonb_typeof(w.day) <> 'string'
              or upper(w.day #>> '{}' collate "C") !~ c_weekday)
          then 'weekdays is a list of SUN, MON, TUE, WED, THU, FRI, SAT' end
      when 'month_day' then case
        when jsonb_typeof(v_rule -> 'month_day') <> 'string'
          or v_rule ->> 'month_day' !~ '^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'
          or (v_rule ->> 'month_day') in ('02-30', '02-31', '04-31', '06-31', '09-31', '11-31')
          then 'month_day is a month and a day that it has, such as "12-25"' end
      when 'nth' then case
        when jsonb_typeof(v_rule -> 'nth') <> 'object'
          or exists (
            select from jsonb_object_keys(v_rule -> 'nth') as k
            where k <> all ('{weekday,n,month}'::text[]))
          or coalesce(upper(v_rule #>> '{nth,weekday}' collate "C") !~ c_weekday, true)
          or coalesce(v_rule #>> '{nth,n}' !~ '^-?[1-5]$', true)
          or jsonb_typeof(v_rule #> '{nth,n}') <> 'number'
          or v_rule -> 'nth' ? 'month' and (
            jsonb_typeof(v_rule #> '{nth,month}') <> 'number'
            or v_rule #>> '{nth,month}' !~ '^([1-9]|1[0-2])$')
          then 'nth is {"weekday": "MON", "n": 1 to 5 or -1 to -5, "month": 1 to 12}' end
      when 'calendar' then case
        when jsonb_typeof(v_rule -> 'calendar') <> 'string'
          or v_rule ->> 'calendar' !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          then 'calendar is the id of a calendar' end
      when 'easter' then case
        when jsonb_typeof(v_rule -> 'easter') <> 'number'
          or v_rule ->> 'easter' !~ '^-?[0-9]{1,3}$' or abs((v_rule ->> 'easter')::integer) > 300
          then 'easter is a whole number of days, -300 to 300' end
      when 'orthodox_easter' then case
        when jsonb_typeof(v_rule -> 'orthodox_easter') <> 'number'
          or v_rule ->> 'orthodox_easter' !~ '^-?[0-9]{1,3}$'
          or abs((v_rule ->> 'orthodox_easter')::integer) > 300
          then 'orthodox_easter is a whole number of days, -300 to 300' end
      else 'a rule has one of ' || array_to_string(c_kinds, ', ')
    end;
    if v_problem is null then
      foreach v_key in array array['from', 'until'] loop
        if v_rule ? v_key and not coalesce(
          jsonb_typeof(v_rule -> v_key) = 'string' and lenses.fn_is_date(v_rule ->> v_key), false)
        then
          v_problem := format('%s is a date such as "2026-12-25", from 1970 to 9999', v_key);
          v_value := v_rule -> v_key;
        end if;
      end loop;
    end if;
    if v_problem is null and (v_rule ->> 'until')::date < (v_rule ->> 'from')::date then
      v_problem := format('until must not be before from (%s)', v_rule ->> 'from');
      v_value := v_rule -> 'until';
    end if;
    if v_problem is null and v_rule ? 'observed' and v_kind <> 'month_day' then
      v_problem := 'observed goes with month_day';
      v_value := to_jsonb(v_kind);
    elsif v_problem is null and jsonb_typeof(v_rule -> 'observed') <> 'boolean' then
      v_problem := 'observed is true or false';
      v_value := v_rule -> 'observed';
    end if;
    if v_problem is not null then
      raise exception using
        errcode = '22023',
        column = v_path,
        message = format('%s: %s, not %s', v_path, v_problem, left(v_value::text, 60)),
        hint = 'A rule is, for example, {"month_day": "12-25", "observed": '
          'true}, {"nth": {"weekday": "THU", "n": 4, "month": 11}} or {"easter": -2}.';
    end if;
    if v_rule ? 'except' then
      perform lenses.fn_check_calendar_rules(
        v_rule -> 'except', v_path || '.except', p_depth + 1);
    end if;
  end loop;
end;
$$;
