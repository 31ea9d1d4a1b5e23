-- What was put aside of tenants that have departed: only for lf_sql_engine.

alter table lenses.departed_rows enable row level security;
alter table lenses.departed_rows force row level security;

drop policy if exists departed_rows_engine_all on lenses.departed_rows;
create policy departed_rows_engine_all on lenses.departed_rows
to lf_sql_engine
using (true)
with check (true);
