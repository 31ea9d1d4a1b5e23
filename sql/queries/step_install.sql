-- Records what is installed now. The installer fills in @…@.
insert into lf_sql.installs (
  product_version, source_digest, digest_algorithm, server_major, role_map, reason
)
values (
  @version@, @digest@, @algorithm@,
  pg_catalog.current_setting('server_version_num')::integer / 10000, @roles@, @reason@
);
