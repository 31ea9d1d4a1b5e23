-- What Supabase's vault shows of itself: a stand-in for tests, without its encryption.
create schema vault;

create table vault.secrets (
  id uuid primary key default gen_random_uuid(),
  name text,
  secret text not null,
  created_at timestamptz not null default now()
);

create view vault.decrypted_secrets as
select id, name, secret as decrypted_secret, created_at from vault.secrets;

create function vault.create_secret(new_secret text, new_name text)
returns uuid
language sql
as 'insert into vault.secrets (secret, name) values (new_secret, new_name) returning id';

revoke all on all tables in schema vault from public;
