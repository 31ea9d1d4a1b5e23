-- owner: lf_sql_engine
-- The schedules that leave queue_policy.mode out follow the server's default: a row each that
-- changes.
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
