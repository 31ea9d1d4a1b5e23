-- Does the server, or this database, make every new transaction read-only? Then nothing can be
-- dispatched. One row where it does, none where only this session or its role does. The advice
-- begins a transaction that may write all the same.
create or replace function lenses.fn_health_read_only()
returns table (detail text, advice text)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select
  case p.source
    when 'database' then format(
      'database %s makes every transaction read-only: nothing can be dispatched',
      current_database())
    else 'the server makes every transaction read-only (default_transaction_read_only is on): '
      'nothing can be dispatched'
  end,
  case p.source
    when 'database' then format(
      'begin read write; alter database %I reset default_transaction_read_only; commit; -- then '
      'drivers reconnect',
      current_database())
    else 'alter system set default_transaction_read_only = off; select pg_reload_conf();'
  end
from pg_settings as p
where p.name = 'default_transaction_read_only' and p.setting = 'on'
  and p.source in ('database', 'configuration file', 'command line', 'environment variable')
$$;
