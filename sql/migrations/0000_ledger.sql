-- The installer's own ledger: what is applied, by which version, and what the catalogue looked like afterwards.
-- Nothing here is read by the product itself; `lf-sql status | verify | install` are its only users.

create schema lf_sql authorization lf_sql_owner;

comment on schema lf_sql is 'lf-sql: the installer''s ledger of what is applied';

create table lf_sql.migrations (
  version integer not null constraint migrations_pkey primary key,
  slug text not null,
  checksum text not null,
  checksum_algorithm smallint not null,
  product_version text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp(),
  applied_by text not null default current_user
);

comment on table lf_sql.migrations is 'one row a migration that is applied';
comment on column lf_sql.migrations.checksum is
'hex digest of the file''s text, never of its path; how it is computed: checksum_algorithm';
comment on column lf_sql.migrations.checksum_algorithm is '1: sha256 of the text with line ends as LF';

create table lf_sql.installs (
  id bigint not null generated always as identity constraint installs_pkey primary key,
  product_version text not null,
  source_digest text not null,
  digest_algorithm smallint not null,
  server_major integer not null,
  role_map jsonb not null,
  reason text not null,
  installed_at timestamptz not null default pg_catalog.clock_timestamp(),
  installed_by text not null default current_user
);

comment on table lf_sql.installs is 'one row each time the sources were replayed; the newest is what is installed';
comment on column lf_sql.installs.role_map is
'roles of the sources that stand for another one here, because the installing role could not make them; {} is none';
comment on column lf_sql.installs.reason is 'why the sources were replayed';

create table lf_sql.sources (
  kind text not null,
  schema_name text not null,
  object_name text not null,
  owned_by text not null,
  is_replaceable boolean not null,
  constraint sources_pkey primary key (kind, schema_name, object_name),
  constraint sources_owned_by_check check (owned_by in ('owner', 'engine'))
);

comment on table lf_sql.sources is
'the functions and views that this version installs; anything else in our schemas is a stranger';
comment on column lf_sql.sources.is_replaceable is
'made by a migration for an operator to replace: its body is his';

create table lf_sql.expected_objects (
  kind text not null,
  identity text not null,
  facts jsonb not null,
  constraint expected_objects_pkey primary key (kind, identity)
);

comment on table lf_sql.expected_objects is
'the catalogue as the newest install left it, one row an object, without OIDs; `lf-sql verify` compares';
