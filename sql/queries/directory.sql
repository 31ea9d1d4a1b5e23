-- The directory of cells, for `lf-sql cells init`: schema lf_fleet, in any PostgreSQL. No tick
-- reads it. It belongs to the role that makes it, and nobody else may read it.
create schema lf_fleet;

create table lf_fleet.directories (
  id uuid default gen_random_uuid() constraint directories_pkey primary key,
  is_only boolean not null default true
    constraint directories_is_only_check check (is_only)
    constraint directories_is_only_key unique,
  format integer not null,
  made_at timestamptz not null default now()
);
comment on table lf_fleet.directories is
  'One row. A standby that becomes a cell has a copy of the directory where the old cell had it: '
  'the id says whose copy it is.';

create table lf_fleet.cells (
  id integer generated always as identity constraint cells_pkey primary key,
  name text not null
    constraint cells_name_key unique
    constraint cells_name_check check (name ~ '^[a-z0-9_-]{1,63}$'),
  conninfo text not null,
  is_open boolean not null default true,
  version text,
  added_at timestamptz not null default now()
);
comment on column lf_fleet.cells.conninfo is
  'Where the cell is, as libpq reads it, without a password.';
comment on column lf_fleet.cells.is_open is
  'Whether new tenants are placed there.';
comment on column lf_fleet.cells.version is
  'The lf-sql that was installed there when the directory last saw the cell.';

create table lf_fleet.tenants (
  user_id uuid constraint tenants_pkey primary key,
  lenser_id uuid constraint tenants_lenser_id_key unique,
  cell_id integer not null constraint tenants_cell_id_fkey references lf_fleet.cells (id),
  moving_to integer
    constraint tenants_moving_to_fkey references lf_fleet.cells (id)
    constraint tenants_moving_to_check check (moving_to <> cell_id),
  placed_at timestamptz not null default now()
);
create index tenants_cell_id_idx on lf_fleet.tenants (cell_id);
create index tenants_moving_to_idx on lf_fleet.tenants (moving_to) where moving_to is not null;
comment on column lf_fleet.tenants.lenser_id is
  'The id of its row in lensers.profiles; NULL until the cell has that row.';
comment on column lf_fleet.tenants.moving_to is
  'The cell of a move or a split that is under way.';

create table lf_fleet.moves (
  id bigint generated always as identity constraint moves_pkey primary key,
  kind text not null constraint moves_kind_check check (kind in ('move', 'split')),
  from_cell text not null,
  to_cell text not null,
  lenser_ids uuid[] not null,
  step text not null,
  outcome text constraint moves_outcome_check check (outcome in ('done', 'taken back')),
  started_at timestamptz not null default now(),
  stepped_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint moves_outcome_finished_at_check check ((outcome is null) = (finished_at is null))
);
create index moves_open_idx on lf_fleet.moves (id) where outcome is null;
comment on table lf_fleet.moves is
  'The journal of moves and splits. A row without an outcome is under way, or was cut off: '
  'lf-sql cells resume ends it.';
