-- The keys that stand in a secret as Standard Webhooks write it: whsec_ and the base64 of 24 to 64
-- bytes; two or three, with a blank between, while one replaces another. NULL where it is no
-- secret.
create or replace function lenses.fn_webhook_keys(p_secret text)
returns bytea[]
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text;
  v_keys bytea[] := '{}';
begin
  foreach v_word in array string_to_array(p_secret, ' ') loop
    v_word := regexp_replace(v_word, '^whsec_', '');
    if v_word !~ '^[A-Za-z0-9+/]{32,88}={0,2}$' or char_length(v_word) % 4 <> 0 then
      return null;
    end if;
    v_keys := v_keys || decode(v_word, 'base64');
    if length(v_keys[cardinality(v_keys)]) not between 24 and 64 then
      return null;
    end if;
  end loop;
  return case when cardinality(v_keys) between 1 and 3 then v_keys end;
end;
$$;

comment on function lenses.fn_webhook_keys(text) is
  'The bytes of a secret "whsec_…", or of several with a blank between; NULL where it is no such '
  'secret.';
