-- At the end of exported SQL: what is installed now, and the catalogue that it left. @…@ is filled in by the export.
insert into lf_sql.installs (
  product_version, source_digest, digest_algorithm, server_major, role_map, reason
)
select
  @version@, @digest@, @algorithm@,
  pg_catalog.current_setting('server_version_num')::integer / 10000, '{}', 'exported SQL'
where not exists (
  select from lf_sql.installs as i
  where i.source_digest = @digest@ and i.product_version = @version@
    and i.id = (select pg_catalog.max(n.id) from lf_sql.installs as n)
);

delete from lf_sql.expected_objects;
insert into lf_sql.expected_objects (kind, identity, facts)
select c.kind, c.identity, c.facts from (
@catalogue@
) as c;
