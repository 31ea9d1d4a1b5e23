-- The jobs in exported SQL: registered where pg_cron can be had, else a warning. @…@ is filled in
-- by the export.
do $jobs$
begin
  if not exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron') then
    create extension pg_cron;
    execute 'comment on extension pg_cron is ' || pg_catalog.quote_literal(@mark@);
  end if;
  @jobs@
exception when others then
  raise warning 'lf-sql: pg_cron does not drive this database: %', sqlerrm
    using hint = 'lf-sql status says what is missing; or let the process lf-sql worker drive it.';
end;
$jobs$;
