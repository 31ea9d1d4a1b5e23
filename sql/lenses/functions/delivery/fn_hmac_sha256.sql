-- HMAC-SHA256 (RFC 2104) over the server's own sha256(): no extension is needed.
create or replace function lenses.fn_hmac_sha256(p_key bytea, p_message bytea)
returns bytea
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := case when length(p_key) > 64 then sha256(p_key) else p_key end;
  v_inner bytea;
  v_outer bytea;
begin
  v_key := v_key || decode(repeat('00', 64 - length(v_key)), 'hex');
  v_inner := v_key;
  v_outer := v_key;
  for i in 0 .. 63 loop
    v_inner := set_byte(v_inner, i, get_byte(v_key, i) # 54);
    v_outer := set_byte(v_outer, i, get_byte(v_key, i) # 92);
  end loop;
  return sha256(v_outer || sha256(v_inner || p_message));
end;
$$;

comment on function lenses.fn_hmac_sha256(bytea, bytea) is
  'HMAC-SHA256 of p_message under p_key: 32 bytes. NULL for NULL.';
