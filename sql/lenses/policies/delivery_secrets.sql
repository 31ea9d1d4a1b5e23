-- Secrets: lf_sql_engine alone, which no request can become. service_role names and replaces them
-- by lenses.fn_set_delivery_secret and sees none.

alter table lenses.delivery_secrets enable row level security;
alter table lenses.delivery_secrets force row level security;

drop policy if exists delivery_secrets_engine_all on lenses.delivery_secrets;
create policy delivery_secrets_engine_all on lenses.delivery_secrets
to lf_sql_engine
using (true)
with check (true);
