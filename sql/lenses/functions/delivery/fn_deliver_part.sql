-- owner: lf_sql_engine
-- One piece of the tick's deliveries, at most about p_limit rows of anything and a hundred
-- requests: reads answers, then posts what there is room for. The delivery that has waited longest
-- comes first. Returns how much it did; 0 means that nothing is left, except rows that another
-- transaction has locked. Where nothing is delivered it costs one look-up. It locks a delivery's
-- row while it works on it, so that drivers side by side share the deliveries. An endpoint that has
-- failed five times in a row gets one request at a time, so that an outage does not use up what
-- waits.
create or replace function lenses.fn_deliver_part(p_now timestamptz, p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_delivery lenses.deliveries;
  v_is_asked boolean := false;
  v_problem text;
  v_left integer := least(p_limit, 100);
  v_done integer := 0;
  v_part integer;
begin
  for v_delivery in
    select d.* from lenses.deliveries as d
    order by d.posted_at nulls first, d.name
    for no key update skip locked
  loop
    v_done := v_done + lenses.fn_trim_outbox(v_delivery, p_now, p_limit);
    continue when v_delivery.url is null;
    if not v_is_asked then
      v_problem := lenses.fn_hold_net();
      v_is_asked := true;
    end if;
    if v_problem is not null then
      perform lenses.fn_note_delivery(v_delivery.name, v_problem);
      continue;
    end if;
    -- Answers are read even where nothing can be posted.
    v_done := v_done + lenses.fn_read_answers(v_delivery, p_now, p_limit);
    begin
      v_part := lenses.fn_post_due(v_delivery.name, p_now, v_left);
      v_left := v_left - v_part;
      v_done := v_done + v_part;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      perform lenses.fn_note_delivery(v_delivery.name, format('%s: %s', sqlstate, sqlerrm));
    end;
  end loop;
  return v_done;
end;
$$;
