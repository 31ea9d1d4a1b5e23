-- At the head of exported SQL: schemas that are not ours, and a database that is newer than the
-- text. @…@ is filled in by the export.
do $refuse$
declare
  v_schema text;
  v_installed text;
  v_unknown integer;
  v_number constant text := '^[0-9]+(?:[.][0-9]+)*';
begin
  if pg_catalog.to_regclass('lf_sql.migrations') is null then
    select n.nspname into v_schema from pg_catalog.pg_namespace as n
    where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation') limit 1;
    if v_schema is not null then
      raise exception using
        message = pg_catalog.format('schema %s exists already and is not from lf-sql', v_schema),
        hint = 'Rename or drop it, or install into another database.';
    end if;
    return;
  end if;
  select i.product_version into v_installed from lf_sql.installs as i order by i.id desc limit 1;
  select m.version into v_unknown from lf_sql.migrations as m where m.version > @newest@ limit 1;
  if v_unknown is not null
    or pg_catalog.string_to_array(pg_catalog.substring(v_installed, v_number), '.')::integer[]
      > pg_catalog.string_to_array(pg_catalog.substring(@version@, v_number), '.')::integer[]
  then
    raise exception using
      message = pg_catalog.format(
        'the database is newer: it has lf-sql %s, this is %s', v_installed, @version@
      ),
      hint = 'Export the SQL with a newer lf-sql.';
  end if;
end;
$refuse$;
