-- The key that stands in a secret as Standard Webhooks write it: whsec_ and base64, 24 to 64 bytes.
-- NULL where it is none.
create or replace function lenses.fn_webhook_key(p_secret text)
returns bytea
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_body constant text := regexp_replace(p_secret, '^whsec_', '');
  v_key bytea;
begin
  if c_body !~ '^[A-Za-z0-9+/]{32,88}={0,2}$' or char_length(c_body) % 4 <> 0 then
    return null;
  end if;
  v_key := decode(c_body, 'base64');
  return case when length(v_key) between 24 and 64 then v_key end;
end
$$;

comment on function lenses.fn_webhook_key(text) is 'The bytes of a secret "whsec_…", or NULL where it is no such secret.';
