-- A migration's row in the ledger, directly after it. The installer fills in @…@.
insert into lf_sql.migrations (version, slug, checksum, checksum_algorithm, product_version)
values (@number@, @slug@, @checksum@, @algorithm@, @version@);
