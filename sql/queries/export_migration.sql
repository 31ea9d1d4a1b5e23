-- A migration in exported SQL: run where the ledger does not know it; the text that was run must be
-- this one. @…@ is filled in by the export.
do $migration$
declare
  v_checksum text;
begin
  if pg_catalog.to_regclass('lf_sql.migrations') is not null then
    select m.checksum into v_checksum from lf_sql.migrations as m
    where m.version = @number@;
  end if;
  if v_checksum is null then
    execute @sql@;
  elsif v_checksum <> @checksum@ then
    raise exception using
      message = pg_catalog.format(
        'migration %s is applied, but its text has changed', @number@ || '_' || @slug@
      ),
      hint = 'Use the export of the version that installed this database.';
  end if;
end;
$migration$;
