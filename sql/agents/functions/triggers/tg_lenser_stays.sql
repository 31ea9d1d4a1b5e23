-- An agent or team stays with its tenant, for every role, because its policy applies to that
-- tenant's runs only.
create or replace function agents.tg_lenser_stays()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '22023',
    column = 'lenser_id',
    message = format(
      '%s "%s" cannot go to another tenant',
      case tg_table_name when 'teams' then 'team' else 'agent' end, old.id
    ),
    hint = 'Create another one for that tenant.';
end;
$$;
