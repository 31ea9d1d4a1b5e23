-- owner: lf_sql_engine
-- For service_role: stores a secret that signs requests, where there is no vault. Nobody can read
-- it back.
create or replace function lenses.fn_set_delivery_secret(p_name text, p_secret text)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name is null or p_name = '' or char_length(p_name) > 200 then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'p_name must be 1 to 200 characters, not %s',
        coalesce('"' || left(p_name, 60) || '"', 'NULL')
      ),
      hint = 'It is the secret_name of a delivery.';
  elsif p_secret is not null and (
    p_secret !~ '^whsec_' or lenses.fn_webhook_keys(p_secret) is null
  ) then
    raise exception using
      errcode = '22023',
      column = 'secret',
      message = 'p_secret is not "whsec_" and the base64 of 24 to 64 bytes',
      hint = 'Make one: printf whsec_; openssl rand -base64 32';
  elsif p_secret is null then
    delete from lenses.delivery_secrets as s where s.name = p_name;
    return;
  end if;
  insert into lenses.delivery_secrets as s (name, secret)
  values (p_name, p_secret)
  on conflict (name) do update set secret = excluded.secret, updated_at = now();
end;
$$;

comment on function lenses.fn_set_delivery_secret(text, text) is
  'Stores the secret p_secret ("whsec_" and base64, as Standard Webhooks write it; two with a '
  'blank between, while one replaces the other) under p_name, which deliveries name as '
  'secret_name; NULL deletes it. No function returns it. Where the database has Supabase''s '
  'vault, create it there instead: a secret of that name in vault.secrets comes first. 22023: no '
  'such secret.';
