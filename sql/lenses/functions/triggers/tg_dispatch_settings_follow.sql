-- owner: lf_sql_engine
-- Updates the schedules that leave queue_policy.mode out when the server's default changes; only
-- rows that change are written.
create or replace function lenses.tg_dispatch_settings_follow()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_follow_policies(null);
  return null;
end;
$$;
