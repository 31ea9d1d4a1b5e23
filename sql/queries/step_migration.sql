-- A migration's row in the ledger, right behind it. @…@ is filled in by the installer.
insert into lf_sql.migrations (version, slug, checksum, checksum_algorithm, product_version)
values (@number@, @slug@, @checksum@, @algorithm@, @version@);
