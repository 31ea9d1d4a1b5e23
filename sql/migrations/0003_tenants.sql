-- Tenants: one row a lenser, found from the caller's JWT by user_id.
create table lensers.profiles (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  handle text,
  display_name text,
  created_at timestamptz not null default now(),
  constraint profiles_pkey primary key (id),
  constraint profiles_user_id_key unique (user_id),
  constraint profiles_handle_check check (char_length(handle) between 1 and 200),
  constraint profiles_display_name_check check (char_length(display_name) <= 200)
);

comment on table lensers.profiles is 'Tenants. One row a lenser; every tenant-owned row carries its id as lenser_id.';
comment on column lensers.profiles.user_id is 'The JWT''s sub claim; who carries it acts as this lenser.';
comment on column lensers.profiles.handle is 'A short name for people; not unique.';
