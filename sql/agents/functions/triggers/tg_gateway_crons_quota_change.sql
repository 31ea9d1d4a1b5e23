-- owner: lf_sql_engine
-- A gateway cron whose payload has changed: what it counts for changes.
create or replace function agents.tg_gateway_crons_quota_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_use_quota(
    new.lenser_id, 0, 0, octet_length(new.payload::text) - octet_length(old.payload::text));
  return null;
end;
$$;

comment on function agents.tg_gateway_crons_quota_change() is
  'Books a gateway cron''s changed payload in lenses.lenser_usage; 53400 at a quota.';
