-- A server as Supabase hands it over: the superuser is supabase_admin, `postgres` is none.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit;
create role supabase_auth_admin nologin noinherit createrole;
grant anon, authenticated, service_role to authenticator;
create role postgres login createrole createdb replication bypassrls;
grant anon, authenticated, service_role to postgres with admin option;
