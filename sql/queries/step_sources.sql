-- The functions and views of this version. The installer fills in @…@.
delete from lf_sql.sources;

insert into lf_sql.sources (kind, schema_name, object_name, owned_by, is_replaceable) values
@rows@;
