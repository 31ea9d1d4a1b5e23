-- squawk-ignore-file require-concurrent-index-creation
-- A tenant may live in another cell: a complete lf-sql on a database of its own. A tenant that has
-- departed is no caller here, and nothing of it runs here.
alter table lensers.profiles
  add column departed_at timestamptz,
  add column departed_to text,
  add column departure_settled_at timestamptz,
  add column source_departed_at timestamptz,
  -- squawk-ignore constraint-missing-not-valid
  add constraint profiles_departed_check check (
    (departed_at is null) = (departed_to is null)
    and (departed_at is not null or departure_settled_at is null)
    and (departed_to is null or departed_to ~ '^[a-z0-9_-]{1,63}$'));
comment on column lensers.profiles.departed_at is
  'When the tenant left this cell; NULL where it lives here.';
comment on column lensers.profiles.departed_to is 'The cell that it left for.';
comment on column lensers.profiles.departure_settled_at is
  'When it was certain that the tenant is at work in its new cell: nothing takes the departure back.';
comment on column lensers.profiles.source_departed_at is
  'When the tenant departed from the cell that it arrived here from last; NULL: it never arrived.';
create index profiles_departure_settled_at_idx on lensers.profiles (departure_settled_at)
where departure_settled_at is not null;

create table lenses.departed_rows (
  lenser_id uuid not null,
  table_name text not null,
  row_key text not null,
  row_texts jsonb not null,
  constraint departed_rows_pkey primary key (lenser_id, table_name, row_key),
  constraint departed_rows_lenser_id_fkey foreign key (lenser_id)
    references lensers.profiles (id) on delete cascade,
  constraint departed_rows_table_name_check check (char_length(table_name) <= 127),
  constraint departed_rows_row_key_check check (char_length(row_key) <= 200),
  constraint departed_rows_row_texts_check check (jsonb_typeof(row_texts) = 'object')
);
comment on table lenses.departed_rows is 'What was waiting or active when its tenant departed, a row a row, columns as text, as it was before: for the cell that the tenant goes to, and for a departure that is taken back.';

comment on index lensers.profiles_departure_settled_at_idx is 'Tenants whose leftovers the purge may delete (fn_purge_departed).';
