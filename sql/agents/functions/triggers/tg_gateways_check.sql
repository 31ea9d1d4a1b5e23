-- Validates a gateway's row, whatever path it comes by.
create or replace function agents.tg_gateways_check()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  new.name := btrim(new.name);
  if coalesce(new.name, '') = '' or char_length(new.name) > 200 or new.name ~ '[[:cntrl:]]' then
    raise exception using
      errcode = '22023',
      column = 'name',
      message = format(
        'name of a gateway must be 1 to 200 characters on one line, not "%s"', left(new.name, 60)
      ),
      hint = 'For example "eu-west bridge".';
  end if;
  new.endpoint := nullif(btrim(new.endpoint), '');
  if char_length(new.endpoint) > 2000 or new.endpoint ~ '[[:cntrl:][:space:]]' then
    raise exception using
      errcode = '22023',
      column = 'endpoint',
      message = format(
        'endpoint of a gateway must be at most 2000 characters without blanks, not "%s"',
        left(new.endpoint, 60)
      ),
      hint = 'For example "https://gateway.example:8443/bridge".';
  end if;
  if tg_op = 'UPDATE' then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function agents.tg_gateways_check() is
  'Refuses with 22023 a gateway without a name, or with a name or endpoint that cannot be read.';
