-- An agent or team stays with its lenser, for every role: its policy holds for his runs alone.
create or replace function agents.tg_lenser_stays()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '% "%" cannot go to another tenant',
    case tg_table_name when 'teams' then 'team' else 'agent' end, old.id
    using errcode = '22023', hint = 'Create one of his own.';
end;
$$;
