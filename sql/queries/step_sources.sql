-- The functions and views of this version. @…@ is filled in by the installer.
delete from lf_sql.sources;

insert into lf_sql.sources (kind, schema_name, object_name, owned_by, is_replaceable) values
@rows@;
