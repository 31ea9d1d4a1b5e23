create or replace trigger policies_fill
before insert or update on agents.policies
for each row
execute function agents.tg_policies_fill();

create or replace trigger policies_instants
before insert or update on agents.policies
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.policies enable always trigger policies_instants;
