-- owner: lf_sql_engine
-- Posts what a delivery has room for, at most p_limit requests; returns how many.
create or replace function lenses.fn_post_due(p_name text, p_now timestamptz, p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_delivery lenses.deliveries;
  v_keys bytea[];
  v_room integer;
  v_posted integer := 0;
begin
  select d.* into v_delivery from lenses.deliveries as d where d.name = p_name;
  v_room := least(
    p_limit,
    case when v_delivery.failures >= 5 then 1 else v_delivery.max_in_flight end - (
      select count(*) from lenses.delivery_requests as q
      where q.delivery = p_name and q.expires_at > p_now));
  if not v_delivery.is_active or v_room <= 0 then
    return 0;
  end if;
  v_keys := lenses.fn_delivery_secret(v_delivery.secret_name);
  if v_keys is null and v_delivery.secret_name is not null then
    perform lenses.fn_note_delivery(p_name, format(
      'the secret "%s" is not there, or is not "whsec_" and base64', v_delivery.secret_name));
    return 0;
  end if;
  v_posted := lenses.fn_post_events(v_delivery, v_keys, p_now, v_room);
  if v_posted < v_room and 'runs' = any (v_delivery.sends) then
    v_posted := v_posted + lenses.fn_post_runs(v_delivery, v_keys, p_now, v_room - v_posted);
  end if;
  if v_posted > 0 then
    update lenses.deliveries as d set posted_at = p_now where d.name = p_name;
  end if;
  perform lenses.fn_note_delivery(p_name, null);
  return v_posted;
end;
$$;
