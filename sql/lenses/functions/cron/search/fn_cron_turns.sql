-- All minutes in (p_from, p_until] at which the clock of one of the zones is turned, zone by zone.
create or replace function lenses.fn_cron_turns(p_timezones text[], p_from bigint, p_until bigint)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text;
  v_turn bigint;
  v_turns bigint[] := '{}';
begin
  for v_zone in
    select distinct lenses.fn_timezone_of_abbreviation(z) from unnest(p_timezones) as z
  loop
    continue when v_zone = 'Etc/UTC';
    v_turn := p_from;
    loop
      v_turn := lenses.fn_cron_next_transition(v_zone, v_turn, p_until);
      exit when v_turn is null;
      v_turns := v_turns || v_turn;
    end loop;
  end loop;
  return v_turns;
end;
$$;
