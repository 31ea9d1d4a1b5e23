-- The install's row in exported SQL: not where the text runs a second time. @…@ is filled in by the
-- export.
do $install$
begin
  if not exists (
    select from lf_sql.installs as i
    where i.source_digest = @digest@ and i.product_version = @version@
      and i.id = (select pg_catalog.max(n.id) from lf_sql.installs as n)
  ) then
    execute @sql@;
  end if;
end;
$install$;
