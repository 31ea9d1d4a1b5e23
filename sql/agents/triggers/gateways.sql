create or replace trigger gateways_check
before insert or update on agents.gateways
for each row execute function agents.tg_gateways_check();
