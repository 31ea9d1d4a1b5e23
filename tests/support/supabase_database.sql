-- A database as Supabase hands it over: what is made in public is open to the request roles, by default privileges
-- and whoever is calling is asked by auth.uid().
grant usage on schema public to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public
grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public
grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public
grant all on sequences to postgres, anon, authenticated, service_role;
-- Not Supabase's, but seen elsewhere: what postgres makes in any schema is open, too.
alter default privileges for role postgres grant all on tables to anon, authenticated, service_role;
alter default privileges for role postgres grant all on functions to anon, authenticated, service_role;
alter default privileges for role postgres grant all on sequences to anon, authenticated, service_role;

create schema extensions authorization postgres;
grant usage on schema extensions to anon, authenticated, service_role;

create schema auth authorization supabase_auth_admin;
grant usage on schema auth to anon, authenticated, service_role, postgres;

create table auth.users (id uuid primary key, email text);
alter table auth.users owner to supabase_auth_admin;

create function auth.uid() returns uuid
language sql
stable
as $$
select coalesce(
  nullif(current_setting('request.jwt.claim.sub', true), ''),
  (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
)::uuid
$$;

create publication supabase_realtime;
