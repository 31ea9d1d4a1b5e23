-- Guard of the audit tables: what reaches this function is refused. The exceptions stand in the
-- triggers' WHEN clauses, so that they can be read where they apply, and cost no call:
-- lf_sql_engine may delete rows that are older than the shortest retention there can be. No setting
-- unlocks it, since any client may set one.
create or replace function lenses.tg_append_only()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '42501',
    message = format('%I.%I is append-only: %s refused', tg_table_schema, tg_table_name,
      lower(tg_op)),
    hint = 'Old rows go by the retention of lenses.dispatch_settings.';
end;
$$;
