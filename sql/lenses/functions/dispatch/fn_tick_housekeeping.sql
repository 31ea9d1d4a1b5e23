-- owner: lf_sql_engine
-- What a tick does before the schedules: revives what would fall silent, reaps expired leases and approvals, ends pauses whose end has
-- come, and dispatches gateway crons. A part that fails is noted on the tick and holds up no other.
create or replace function lenses.fn_tick_housekeeping(p_tick_id bigint, p_now timestamptz)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_note text;
begin
  begin
    perform lenses.fn_keep_alive(p_tick_id, p_now);
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    v_note := concat_ws('; ', v_note, format('reviving failed: %s %s', sqlstate, sqlerrm));
  end;
  begin
    perform lenses.fn_reap_runs(p_now);
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    v_note := concat_ws('; ', v_note, format('reaping runs failed: %s %s', sqlstate, sqlerrm));
  end;
  begin
    perform lenses.fn_end_pauses(p_now);
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    v_note := concat_ws('; ', v_note, format('ending pauses failed: %s %s', sqlstate, sqlerrm));
  end;
  begin
    perform agents.fn_dispatch_gateway_crons(p_now);
  exception when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    v_note := concat_ws('; ', v_note, format('gateway crons failed: %s %s', sqlstate, sqlerrm));
  end;
  if v_note is not null then
    raise warning 'lf-sql: %', v_note;
    update lenses.dispatch_ticks as t set note = left(v_note, 2000) where t.id = p_tick_id;
  end if;
end
$$;
