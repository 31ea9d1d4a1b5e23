create or replace trigger policies_fill
before insert or update on agents.policies
for each row
execute function agents.tg_policies_fill();
